// Parses the mail that the worker sends: one plain part and one HTML part, both quoted-printable.

export interface ParsedMail {
  /** By their names in lower case. */
  headers: Record<string, string>;
  text: string;
  html: string;
}

/** @throws if the message has other parts. */
export function parseMail(raw: string): ParsedMail {
  const { headers, body } = splitHeaders(raw.replaceAll("\r\n", "\n"));
  const boundary = /^multipart\/alternative;\s*boundary="([^"]+)"$/.exec(headers["content-type"] ?? "")?.[1];
  if (!boundary) throw new Error(`The message is ${headers["content-type"]}.`);
  const parts = body
    .split(`--${boundary}`)
    .slice(1, -1)
    .map((part) => splitHeaders(part.trimStart()));
  const types = parts.map((part) => part.headers["content-type"]).join();
  if (types !== "text/plain; charset=utf-8,text/html; charset=utf-8") throw new Error(`The parts are ${types}.`);
  const [text = "", html = ""] = parts.map(decode);
  return { headers, text, html };
}

interface Part {
  headers: Record<string, string>;
  body: string;
}

function splitHeaders(part: string): Part {
  const end = part.indexOf("\n\n");
  const lines = part
    .slice(0, end)
    .replaceAll(/\n[ \t]+/g, " ")
    .split("\n");
  const headers = lines.map((line) => [
    line.slice(0, line.indexOf(":")).toLowerCase(),
    line.slice(line.indexOf(":") + 1).trim(),
  ]);
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: part.slice(end + 2) };
}

function decode({ headers, body }: Part): string {
  if (headers["content-transfer-encoding"] !== "quoted-printable") return body;
  const bytes = body
    .replaceAll("=\n", "")
    .replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
