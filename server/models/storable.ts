// Text that the waitlist cannot store.

/** Control characters and lone surrogates, which Postgres or mail cannot represent, and U+FFFD, which a decoder puts in place of invalid bytes. */
export const unstorable = /[\p{Cc}\p{Cs}\uFFFD]/u;
