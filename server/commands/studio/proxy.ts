// The HTTP proxy in front of Prisma Studio: shows the newest entries first, and refuses requests from other sites.
import {
  request,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from "node:http";
import { pipeline } from "node:stream";
import { fields } from "../../../client/shared/fields.ts";
import { sourceColumns } from "../../models/source.ts";
import { flags } from "../../models/waitlist-entry.ts";

/** Studio sorts other columns by name and puts them after these, the primary key first. */
const columns = [
  "created_at",
  ...fields.map(({ name }) => name),
  "status",
  "confirmed_at",
  "mail_refusal",
  ...flags,
  ...sourceColumns,
];

/** Studio's view state: https://github.com/prisma/studio/blob/main/Architecture/navigation-url-state.md */
const newestEntries = new URLSearchParams({
  table: "earlyaccess",
  sort: "created_at:desc,id:desc",
  pin: columns.join(","),
});

/** The second fragment is Studio's own link to the table, which sorts by id. */
const head = `
<style>
  /* Columns are pinned for their order only. Pinned columns would cover the others, and move away when they get focus. */
  td, th { left: auto !important; }
</style>
<script>
  function openNewestEntries() {
    const fragments = ["", "#schema=public&table=earlyaccess&view=table"];
    if (fragments.includes(location.hash)) location.replace("#${newestEntries}");
  }
  addEventListener("hashchange", openNewestEntries);
  openNewestEntries();
</script>`;

/** Blocks the page's telemetry to checkpoint.prisma.io, and frames in other sites. */
const securityPolicy = {
  "content-security-policy": "default-src 'self' 'unsafe-inline' data:; frame-ancestors 'none'",
};

const pageHeaders = { "content-type": "text/html; charset=utf-8", ...securityPolicy };

/** Headers of one connection, which a proxy must not forward. Node throws if it is to send a Trailer without chunks. */
const hopByHop = /^(?:connection|keep-alive|proxy-.*|te|trailer|transfer-encoding|upgrade)$/;

/** @param port where Studio listens on 127.0.0.1. */
export async function createStudioProxy(port: number): Promise<RequestListener> {
  const response = await fetch(`http://127.0.0.1:${port}/`);
  const page = (await response.text()).replace("</head>", `${head}</head>`);
  return (incoming, outgoing) => {
    const { url = "" } = incoming;
    if (!isSameOrigin(incoming)) outgoing.writeHead(403).end();
    else if (!url.startsWith("/")) outgoing.writeHead(400).end();
    else if (/^\/(?:\?|$)/.test(url)) outgoing.writeHead(200, pageHeaders).end(page);
    else forward(incoming, outgoing, port);
  };
}

/** Returns false for another site's page, also if that site's name resolves to this machine (DNS rebinding). */
function isSameOrigin({ headers: { host = "", origin = `http://${host}` } }: IncomingMessage): boolean {
  return /^(?:localhost|127\.0\.0\.1)(?::\d+)?$/.test(host) && origin === `http://${host}`;
}

function forward(incoming: IncomingMessage, outgoing: ServerResponse, port: number): void {
  const { method, url: path } = incoming;
  // Studio accepts its own origin only.
  const headers: IncomingHttpHeaders = { ...endToEnd(incoming.headers), origin: `http://127.0.0.1:${port}` };
  // Node would send the body of a GET or DELETE without its length, and Studio would read the body as a request.
  if (incoming.headers["transfer-encoding"]) headers["transfer-encoding"] = "chunked";
  const forwarded = request({ host: "127.0.0.1", port, method, path, headers }, (response) => {
    outgoing.writeHead(response.statusCode as number, { ...endToEnd(response.headers), ...securityPolicy });
    pipeline(response, outgoing, () => undefined);
  });
  forwarded.on("error", () => outgoing.destroy());
  pipeline(incoming, forwarded, () => undefined);
}

function endToEnd(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.test(name)));
}
