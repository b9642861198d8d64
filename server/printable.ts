// Text that is safe to write to a terminal: nothing in it moves the cursor, hides text or reverses its direction.

/** Control and format characters, lone surrogates, and Unicode's line and paragraph separators. */
const invisible = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu;
const longestName = 100;
const mostNames = 20;

/** Replaces each invisible character of one value by "?", line breaks too: a value cannot add lines to a message. */
export function printable(value: string): string {
  return value.replaceAll(invisible, "?");
}

/** Like printable for a whole message, whose own line breaks stay. */
export function printableLines(message: string): string {
  return message.split("\n").map(printable).join("\n");
}

/** Like printable for a name or option of unknown length, cut after 100 characters. */
export function printableName(name: string): string {
  const characters = Array.from(name.slice(0, 2 * longestName + 1));
  return printable(characters.length > longestName ? `${characters.slice(0, longestName).join("")}…` : name);
}

/** Joins at most 20 names and says how many more there are. */
export function listNames(names: string[]): string {
  const more = names.length > mostNames ? ` and ${names.length - mostNames} more` : "";
  return names.slice(0, mostNames).map(printableName).join(", ") + more;
}
