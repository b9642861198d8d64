// The load where wrk is not installed: the same as load.lua. Arguments: address, seconds, and "pages" or "signups".
// It only counts answers: autocannon, which measures each, takes so much of two processors that the servers have too little.
import { randomBytes } from "node:crypto";
import { connect } from "node:net";

const [address = "", seconds = "1", kind = "pages"] = process.argv.slice(2);
const { hostname, port, host, pathname } = new URL(address);
const connections = 64;
const run = randomBytes(6).toString("hex");

const get = Buffer.from(`GET ${pathname} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: br\r\n\r\n`);
let count = 0;

function nextRequest(): Buffer | string {
  if (kind === "pages") return get;
  const email = `ada.${run}.${count++}@example.com`;
  const body = `{"name":"Ada Lovelace","email":"${email}","company":"Analytical Engines","job_title":"Engineer"}`;
  const head = `POST /api/earlyaccess HTTP/1.1\r\nHost: ${host}\r\nContent-Type: application/json`;
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

let requests = 0;
let refused = 0;
let errors = 0;
const began = performance.now();
const end = began + Number(seconds) * 1000;

/** Sends its next request when the last one is answered. */
function converse(): Promise<void> {
  return new Promise((resolve) => {
    const socket = connect({ port: Number(port), host: hostname, noDelay: true }, () => socket.write(nextRequest()));
    /** Bytes of the current answer that are still to come. */
    let missing = 0;
    socket.on("data", (chunk) => {
      if (missing === 0) {
        const text = chunk.toString("latin1", 0, 4096);
        const length = Number(/\r\ncontent-length: (\d+)/i.exec(text)?.[1]);
        missing = text.indexOf("\r\n\r\n") + 4 + length;
        if (text.charCodeAt("HTTP/1.1 ".length) >= "3".charCodeAt(0)) refused++;
      }
      missing -= chunk.length;
      if (missing > 0) return;
      requests++;
      if (performance.now() < end) socket.write(nextRequest());
      else socket.end();
    });
    socket.on("error", () => errors++);
    socket.on("close", () => resolve());
  });
}

await Promise.all(Array.from({ length: connections }, converse));
process.stdout.write(JSON.stringify({ requests, seconds: (performance.now() - began) / 1000, errors, refused }));
