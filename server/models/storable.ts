// What text the waitlist can hold.

/** Control characters and lone surrogates, which Postgres or mail cannot hold, and U+FFFD: what a decoder puts in place of broken bytes. */
export const unstorable = /[\p{Cc}\p{Cs}\uFFFD]/u;
