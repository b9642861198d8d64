// The limit: Node's own server, which sends the bytes and headers of an answer of ours and does nothing else.
import { writeFileSync } from "node:fs";
import { get } from "node:http";
import { startServer, type Server } from "./processes.ts";

/** Plain JavaScript for node -e, so that nothing but Node is started. */
const source = `
  const [status, headers, body] = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
  const bytes = Buffer.from(body, "base64");
  require("node:http").createServer((req, res) => res.writeHead(status, headers).end(bytes))
    .listen(process.env.PORT, "127.0.0.1");
`;

/** Node adds these by itself. */
const added = new Set(["date", "connection", "keep-alive"]);

/** @param file where the answer is kept for the server. */
export async function startBareServer(url: string, file: string): Promise<Server> {
  const answer = await new Promise<[number, string[], string]>((resolve, reject) => {
    get(url, { headers: { "Accept-Encoding": "br" } }, (response) => {
      const chunks: Buffer[] = [];
      const { rawHeaders, statusCode = 0 } = response;
      const headers = rawHeaders.filter((_, i) => !added.has(rawHeaders[i - (i % 2)]?.toLowerCase() ?? ""));
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("end", () => resolve([statusCode, headers, Buffer.concat(chunks).toString("base64")]));
    }).on("error", reject);
  });
  writeFileSync(file, JSON.stringify(answer));
  return startServer(["-e", source, file]);
}
