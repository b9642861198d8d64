// A request that Node sends unchanged, where supertest would correct it.
import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type RequestListener, type RequestOptions } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";

interface RawRequest extends RequestOptions {
  body?: Buffer | string;
  /** Sends the headers and never the body. */
  unfinished?: boolean;
}

export async function rawRequest(app: RequestListener, { body, unfinished, ...options }: RawRequest) {
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sent = request({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, ...options });
  if (unfinished) sent.flushHeaders();
  else sent.end(body);
  const [response] = await once(sent, "response");
  const answer = await text(response);
  sent.destroy();
  server.close();
  const headers = response.headers as IncomingHttpHeaders;
  const [type = ""] = (headers["content-type"] ?? "").split(";");
  return { status: response.statusCode as number, type, headers, text: answer };
}
