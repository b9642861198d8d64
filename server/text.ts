// Text that is safe to write to a terminal or a log, and what a text may hold: an email address, invalid percent-encoding.

/** Returns whether the text is valid percent-encoding of UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined; // The bundler would remove a call whose result is not used.
  } catch {
    return false;
  }
}

/** Control and format characters (but the joiners of Persian and emoji), lone surrogates, Unicode's line and paragraph separators. */
const invisible = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?![\u200C\u200D])\p{Cf}/gu;

/** Replaces each invisible character of a value by "?". Line breaks too: a value must not add lines to a message. */
export function printable(value: string): string {
  return value.replaceAll(invisible, "?");
}

export function printableLines(message: string): string {
  return message.split("\n").map(printable).join("\n");
}

/** Returns whether the text has an "@", also in full width, percent-encoded several times, as an entity or quoted-printable. */
export const mayHoldEmail = (text: string) => /[@＠﹫]|%(?:25)*40|&#0*64\b|&#x0*40\b|&commat|=40/i.test(text);

/** Returns the start of a text that a client sent: whole ones of 15 KB would soon rotate all other lines of a log away. */
export const loggable = (text: string | undefined) => text?.slice(0, 200);

/** Returns what may be logged of a path. It may hold an email address or, in a link that a mail program encoded, its secret. */
export function loggablePath(path: string): string | undefined {
  if (mayHoldEmail(path)) return "[address]";
  return /[\da-f]{32}/i.test(path) ? "[link]" : loggable(path);
}
