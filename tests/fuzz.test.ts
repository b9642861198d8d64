// Hostile sign-up bodies, which no form sends: no server error, no stack trace, and nothing invalid is stored.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { fields } from "../client/shared/fields.ts";
import { fieldColumns } from "../server/database/columns.ts";
import { parseEntry } from "../server/models/sign-up-rules.ts";
import { createTestDatabase } from "./support/database.ts";
import { ready, startSite } from "./support/site.ts";

const batches = 10;
const batchSize = 100;

const database = await createTestDatabase();
const site = await startSite({
  env: { DATABASE_URL: database.webUrl, SIGNUP_LIMIT: "1000000" },
});
await ready(site);

afterAll(() => site.stop());

/** Any Unicode, also NUL, lone surrogates, right-to-left and combining marks, and long texts. */
const oddText = fc.oneof(
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
  fc.string({ unit: fc.constantFrom("\u0000", "\ud800", "\u202e", "\u0301", "e", "👩‍👩‍👧", " ", "\ufeff") }),
  fc.string({ unit: fc.constantFrom("a", "\u0308", "🚀"), minLength: 90, maxLength: 260 }),
);
const goodText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const anyText = fc.oneof({ weight: 4, arbitrary: goodText }, oddText);
const value = fc.oneof({ weight: 8, arbitrary: anyText }, fc.jsonValue(), fc.constant(undefined));

/** Mostly left out: a field with choices would refuse nearly all that is generated. */
const optional = fc.oneof({ weight: 3, arbitrary: fc.constant(undefined) }, value);

/** Mostly the first value. */
const mostly = <T>(first: T, ...others: T[]) =>
  fc.oneof({ weight: 12, arbitrary: fc.constant(first) }, fc.constantFrom(...others));

/** Each request replaces TAG by a new value, so that each accepted body is stored. */
const emails = ["TAG@example.com", " Tag.TAG@EXAMPLE.com", "o'TAG+x@münchen.de", "TAG@mailinator.com"];
const email = fc.oneof({ weight: 8, arbitrary: fc.constantFrom(...emails) }, anyText, fc.constant(["TAG@example.com"]));

const otherKeys = ["__proto__", "constructor", "toString", "hasOwnProperty", "message", "id", "notice", "source"];
const others = fc.oneof(fc.jsonValue(), anyText, fc.record({ utm_source: value, referrer: value }));
const more = fc.array(fc.tuple(fc.constantFrom(...otherKeys), others), { maxLength: 2 });
const entry = fc
  .record<Record<string, unknown>>(
    Object.fromEntries(
      fields.map(({ name, required }) => [name, name === "email" ? email : required ? value : optional]),
    ),
  )
  .chain((values) => more.map((pairs) => Object.entries<unknown>(values).concat(pairs)));

const asJson = (entries: [string, unknown][]) =>
  `{${entries.flatMap(([key, item]) => (item === undefined ? [] : `${JSON.stringify(key)}:${JSON.stringify(item)}`)).join()}}`;

/** Form-encodes any value. Replaces lone surrogates as browsers do, and writes values other than text as JSON. */
const asForm = (entries: [string, unknown][]) =>
  entries.map(([key, item]) => `${encodeURIComponent(key)}=${encodeURIComponent(asText(item))}`).join("&");

const asText = (item: unknown = "") => (typeof item === "string" ? Buffer.from(item).toString() : JSON.stringify(item));

const json = "application/json";
const form = "application/x-www-form-urlencoded";

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

const hostileBody = fc.record({ plain, sending });
type HostileBody = typeof hostileBody extends fc.Arbitrary<infer T> ? T : never;

// A failure prints its seed; FUZZ_SEED=… repeats it.
it(`the site withstands ${batches * batchSize} hostile bodies, and stores those that it accepts as valid entries`, async () => {
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
  let accepted = 0;
  const batch = fc.array(hostileBody, { minLength: batchSize, maxLength: batchSize });
  const property = fc.asyncProperty(batch, async (bodies) => {
    const answers = await Promise.all(bodies.map(send));
    answers.forEach(assertHarmless);
    accepted += answers.filter(({ status }) => status < 400).length;
  });
  const { failed, errorInstance } = await fc.check(property, { numRuns: batches, seed, endOnFailure: true });
  // fast-check's own report would print a hundred bodies.
  if (failed) throw new Error(`Repeat this with FUZZ_SEED=${seed}`, { cause: errorInstance });
  expect(accepted).toBeGreaterThan((batches * batchSize) / 10); // Otherwise, the bodies are too odd to show anything.
  const rows = await database.query(`SELECT ${fieldColumns.join()} FROM earlyaccess`);
  expect(rows).toHaveLength(accepted);
  // Validation changes nothing that has been validated and normalised.
  for (const row of rows) expect(parseEntry(row)).toMatchObject({ ok: true, entry: row });
  expect(site.process.exitCode).toBeNull();
  expect(site.stderr()).toBe("");
});

type Answer = Awaited<ReturnType<typeof post>>;

function assertHarmless({ status, text, type }: Answer): void {
  assert([201, 303, 400, 413, 415, 422].includes(status), `status ${status}: ${text.slice(0, 300)}`);
  assert(!/\n\s+at |node:internal|Error:.*\.(ts|js):\d/.test(text), `a stack: ${text.slice(0, 300)}`);
  if (status >= 400) assert(/^(application\/problem\+json|text\/html)/.test(type), `${status} as ${type}`);
}

async function send({ plain: given, sending: how }: HostileBody): Promise<Answer> {
  const said = given.text.replaceAll("TAG", `t${randomBytes(8).toString("hex")}`);
  const padded = how.length > 0 ? said.replace(/(?<=company(":"|=))/, "x".repeat(how.length)) : said;
  const body = Buffer.from(padded, how.bytes as BufferEncoding);
  const headers = {
    "Content-Type": how.type ?? given.type + how.charset,
    ...(how.html ? { Accept: "text/html" } : {}),
    ...(how.encoding ? { "Content-Encoding": how.encoding.replace(" that is none", "") } : {}),
  };
  let answer = await post(headers, body);
  // A busy machine: the entry may be sent again.
  for (let tries = 0; answer.status === 503 && tries < 9; tries++) answer = await post(headers, body);
  return answer;
}

async function post(headers: Record<string, string>, body: Buffer<ArrayBuffer>) {
  const init = { method: "POST", headers, body, redirect: "manual" as const };
  const response = await fetch(`${site.url}/api/earlyaccess`, init);
  return { status: response.status, text: await response.text(), type: response.headers.get("content-type") ?? "" };
}
