// What a check of doctor found.

/** `text` says what was found, and what to do unless it is ok. */
export type Finding = [verdict: "ok" | "warning" | "problem", what: string, text: string];

export const ok = (what: string, text: string): Finding => ["ok", what, text];
export const warn = (what: string, text: string): Finding => ["warning", what, text];
export const problem = (what: string, text: string): Finding => ["problem", what, text];
