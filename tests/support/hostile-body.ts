// Generates sign-up bodies that no form sends.
import fc from "fast-check";

/** Any Unicode, also NUL, lone surrogates, right-to-left and combining marks, and long texts. */
const oddText = fc.oneof(
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
  fc.string({ unit: fc.constantFrom("\u0000", "\ud800", "\u202e", "\u0301", "e", "👩‍👩‍👧", " ", "\ufeff") }),
  fc.string({ unit: fc.constantFrom("a", "\u0308", "🚀"), minLength: 90, maxLength: 260 }),
);
const goodText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const text = fc.oneof({ weight: 4, arbitrary: goodText }, oddText);
const value = fc.oneof({ weight: 8, arbitrary: text }, fc.jsonValue(), fc.constant(undefined));

/** Mostly the first value. */
const mostly = <T>(first: T, ...others: T[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(first) }, fc.constantFrom(...others));

/** TAG is replaced by a new value for each request, as the first entry for an address wins. */
const addresses = ["TAG@example.com", " Tag.TAG@EXAMPLE.com", "o'TAG+x@münchen.de", "TAG@mailinator.com"];
const email = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(...addresses) },
  text,
  fc.constant(["TAG@example.com"]),
  fc.emailAddress(),
);

const otherKeys = ["__proto__", "constructor", "toString", "hasOwnProperty", "message", "id"];
const more = fc.array(fc.tuple(fc.constantFrom(...otherKeys), fc.jsonValue()), { maxLength: 2 });
const entry = fc
  .record({ name: value, email, company: value, job_title: value })
  .chain((fields) => more.map((pairs) => Object.entries<unknown>(fields).concat(pairs)));

const asJson = (entries: [string, unknown][]) =>
  `{${entries.flatMap(([key, item]) => (item === undefined ? [] : `${JSON.stringify(key)}:${JSON.stringify(item)}`)).join()}}`;

/** Form encoding of anything: lone surrogates as browsers replace them, other values than texts as JSON. */
const asForm = (entries: [string, unknown][]) =>
  entries.map(([key, item]) => `${encodeURIComponent(key)}=${encodeURIComponent(asText(item))}`).join("&");

const asText = (item: unknown = "") => (typeof item === "string" ? Buffer.from(item).toString() : JSON.stringify(item));

const json = "application/json";
export const form = "application/x-www-form-urlencoded";

const plain = fc.oneof(
  { weight: 6, arbitrary: entry.map((entries) => ({ type: json, text: asJson(entries) })) },
  { weight: 3, arbitrary: entry.map((entries) => ({ type: form, text: asForm(entries) })) },
  fc.tuple(entry, entry).map(([a, b]) => ({ type: json, text: asJson([...a, ...b]) })),
  fc.tuple(entry, entry).map(([a, b]) => ({ type: form, text: asForm([...a, ...b]) })),
  entry.map((entries) => ({ type: form, text: asForm(entries).replace("=", "=%").replace("email=", "email[a][b]=") })),
  fc.tuple(entry, fc.nat(200)).map(([entries, end]) => ({ type: json, text: asJson(entries).slice(0, end) })),
  fc.oneof(fc.json(), fc.string({ unit: "binary" })).map((anything) => ({ type: json, text: anything })),
);

/** How the text is encoded, and what the headers say. */
const sending = fc.record({
  charset: mostly("", "; charset=utf-8", "; charset=UTF-16LE", "; charset=latin1", "; charset=", ";;", '; charset="x'),
  type: mostly<string | undefined>(undefined, "", "text/plain", "multipart/form-data", "a/b/c"),
  bytes: mostly("utf8", "utf16le", "latin1"),
  encoding: mostly("", "gzip", "deflate", "br", "identity", "gzip that is none", "compress", "gzip, gzip"),
  length: fc.oneof({ weight: 60, arbitrary: fc.constant(0) }, fc.constantFrom(17_000, 70_000, 3_000_000)),
  html: fc.boolean(),
});

export const hostileBody = fc.record({ plain, sending });
export type HostileBody = typeof hostileBody extends fc.Arbitrary<infer T> ? T : never;
