// A request that Node sends unchanged, where supertest would correct it.
import { once } from "node:events";
import { createServer, request, type IncomingHttpHeaders, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";

interface RawRequest {
  method?: string;
  path: string;
  headers?: Record<string, string>;
  body?: Buffer | string;
  /** Sends the headers and never the body. */
  unfinished?: boolean;
}

interface RawResponse {
  status: number;
  type: string;
  headers: IncomingHttpHeaders;
  text: string;
}

export async function rawRequest(
  app: RequestListener,
  { body, unfinished, ...options }: RawRequest,
): Promise<RawResponse> {
  const server = createServer(app).listen(0, "127.0.0.1");
  await once(server, "listening");
  const sent = request({ host: "127.0.0.1", port: (server.address() as AddressInfo).port, ...options });
  if (unfinished) sent.flushHeaders();
  else sent.end(body);
  const [response] = await once(sent, "response");
  let text = "";
  for await (const chunk of response) text += chunk;
  sent.destroy();
  server.close();
  const [type = ""] = (response.headers["content-type"] ?? "").split(";");
  return { status: response.statusCode, type, headers: response.headers, text };
}
