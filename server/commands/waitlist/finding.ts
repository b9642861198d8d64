// What a check of doctor found.

/** The result of a check of doctor. Unless it is ok, `text` says what to do. */
export type Finding = [verdict: "ok" | "warning" | "problem", what: string, text: string];

export const ok = (what: string, text: string): Finding => ["ok", what, text];
export const warn = (what: string, text: string): Finding => ["warning", what, text];
export const problem = (what: string, text: string): Finding => ["problem", what, text];

/** Returns a line with the verdict, and further lines below its text. */
export const formatFinding = ([verdict, what, text]: Finding) =>
  `${verdict.padEnd(8)} ${what}: ${text.replaceAll("\n", "\n         ")}\n`;
