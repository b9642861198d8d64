// Parses the mail that the worker sends: one plain part and one HTML part.

/** Returns the headers by their names in lower case, and the decoded parts. */
export function parseMail(raw: string): { headers: Record<string, string>; text: string; html: string } {
  const { headers, body } = splitHeaders(raw.replaceAll("\r\n", "\n"));
  const boundary = /boundary="([^"]+)"/.exec(headers["content-type"] ?? "")?.[1];
  const [text = "", html = ""] = body.split(`--${boundary}`).slice(1, -1).map(decode);
  return { headers, text, html };
}

function splitHeaders(part: string): { headers: Record<string, string>; body: string } {
  const [head = "", ...paragraphs] = part.split("\n\n");
  const lines = head.replaceAll(/\n[ \t]+/g, " ").matchAll(/^([^:]+): *(.*)$/gm);
  const headers = Array.from(lines, ([, name = "", value]) => [name.toLowerCase(), value] as const);
  return { headers: Object.fromEntries(headers) as Record<string, string>, body: paragraphs.join("\n\n") };
}

function decode(part: string): string {
  const { headers, body } = splitHeaders(part.trimStart());
  if (headers["content-transfer-encoding"] !== "quoted-printable") return body;
  const bytes = body
    .replaceAll("=\n", "")
    .replaceAll(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}
