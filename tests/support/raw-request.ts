// A request that Node sends unchanged, where supertest would correct it.
import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type RequestListener, type RequestOptions } from "node:http";
import { text } from "node:stream/consumers";
import { listen } from "../../server/http/listen.ts";

export async function rawRequest(app: RequestListener, options: RequestOptions, body?: Buffer | string) {
  const server = createServer(app);
  const port = await listen(server, "127.0.0.1", 0);
  const sent = request({ host: "127.0.0.1", port, ...options }).end(body);
  const [response] = await once(sent, "response");
  const answer = await text(response);
  server.close();
  const [type = ""] = ((response.headers as IncomingHttpHeaders)["content-type"] ?? "").split(";");
  return { status: response.statusCode as number, type, text: answer };
}
