// Bodies of sign-ups as nobody's form sends them: generated, sent in batches, and compared with what was stored.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { Agent, request } from "node:http";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import fc from "fast-check";

/** Any Unicode: also NUL, lone surrogates, right-to-left and combining marks, far too much of it. */
const oddText = fc.oneof(
  fc.string({ unit: "binary" }),
  fc.string({ unit: fc.nat(0xffff).map((code) => String.fromCharCode(code)) }),
  fc.string({ unit: fc.constantFrom("\u0000", "\ud800", "\udfff", "\u202e", "\u0301", "e", "ש", "👩‍👩‍👧", " ", "\ufeff") }),
  fc.string({ unit: fc.constantFrom("a", "\u0308", "🚀"), minLength: 90, maxLength: 260 }),
);
const goodText = fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 });
const text = fc.oneof({ weight: 4, arbitrary: goodText }, oddText);
const value = fc.oneof({ weight: 8, arbitrary: text }, fc.jsonValue(), fc.constant(undefined));

/** TAG becomes different in every sending, as the first entry for an address wins. */
const email = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.constantFrom("TAG@example.com", " Tag.TAG@EXAMPLE.com", "o'TAG+x@münchen.de", "TAG@mailinator.com"),
  },
  { weight: 1, arbitrary: text },
  fc.constant(["TAG@example.com"]),
  fc.emailAddress(),
);

const prototypeKeys = fc.constantFrom(
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  "message",
  "id",
);
const entry = fc
  .record({
    name: value,
    email,
    company: value,
    job_title: value,
    more: fc.array(fc.tuple(prototypeKeys, fc.jsonValue()), { maxLength: 2 }),
  })
  .map(({ more, ...fields }) => Object.entries<unknown>(fields).concat(more));

const asJson = (entries: [string, unknown][]) =>
  `{${entries.flatMap(([key, item]) => (item === undefined ? [] : `${JSON.stringify(key)}:${JSON.stringify(item)}`)).join()}}`;

/** Form encoding of whatever: lone surrogates as browsers replace them, anything that is no text as its JSON. */
const asForm = (entries: [string, unknown][]) =>
  entries
    .map(([key, item]) => [key, typeof item === "string" ? Buffer.from(item).toString() : JSON.stringify(item)])
    .map(([key, item = ""]) => `${encodeURIComponent(key as string)}=${encodeURIComponent(item)}`)
    .join("&");

const json = "application/json";
const form = "application/x-www-form-urlencoded";

const plain = fc.oneof(
  { weight: 6, arbitrary: entry.map((entries) => ({ type: json, text: asJson(entries) })) },
  { weight: 3, arbitrary: entry.map((entries) => ({ type: form, text: asForm(entries) })) },
  fc.tuple(entry, entry).map(([a, b]) => ({ type: json, text: asJson([...a, ...b]) })),
  fc.tuple(entry, entry).map(([a, b]) => ({ type: form, text: asForm([...a, ...b]) })),
  entry.map((entries) => ({
    type: form,
    text: asForm(entries)
      .replace(/(?<==)/, "%")
      .replace("email=", "email[a][b]="),
  })),
  fc.jsonValue().map((anything) => ({ type: json, text: JSON.stringify(anything) })),
  fc.tuple(entry, fc.nat(200)).map(([entries, end]) => ({ type: json, text: asJson(entries).slice(0, end) })),
  fc.string({ unit: "binary" }).map((anything) => ({ type: json, text: anything })),
);

/** How the text becomes bytes, and what is said of them. */
const sending = fc.record({
  charset: fc.oneof(
    { weight: 12, arbitrary: fc.constant("") },
    fc.constantFrom("; charset=utf-8", "; charset=UTF-16LE", "; charset=latin1", "; charset=", ";;", '; charset="x'),
  ),
  type: fc.oneof(
    { weight: 20, arbitrary: fc.constant(undefined) },
    fc.constantFrom("", "text/plain", "multipart/form-data", "a/b/c"),
  ),
  bytes: fc.oneof({ weight: 12, arbitrary: fc.constant("utf8") }, fc.constantFrom("utf16le", "latin1")),
  encoding: fc.oneof(
    { weight: 12, arbitrary: fc.constant("") },
    fc.constantFrom("gzip", "deflate", "br", "identity", "gzip that is none", "compress", "gzip, gzip"),
  ),
  length: fc.oneof({ weight: 60, arbitrary: fc.constant(0) }, fc.constantFrom(17_000, 70_000, 3_000_000)),
  html: fc.boolean(),
});

const hostileBody = fc.record({ plain, sending });
type HostileBody = typeof hostileBody extends fc.Arbitrary<infer T> ? T : never;

interface Sent {
  status: number;
  answer: string;
  type: string;
  tag: string;
  /** What the body says, where it can be read at all. */
  fields: Record<string, unknown>;
}

interface Stored {
  name: string;
  email: string;
  company: string;
  job_title: string | null;
}

const tagIn = /t[0-9a-f]{16}/;
const byTag = `SELECT name, email, company, job_title FROM earlyaccess WHERE substring(email FROM '${tagIn.source}') = ANY($1)`;

const agent = new Agent({ keepAlive: true, maxSockets: 32 });

type Query = (sql: string, values: unknown[]) => Promise<Record<string, unknown>[]>;

/**
 * Sends `runs` times a hundred bodies at once. @returns how many were stored.
 * @throws where an answer is a fault of ours, or something else was stored than was sent.
 */
export async function sendHostileBodies(url: string, query: Query, runs: number): Promise<number> {
  let joined = 0;
  const batch = fc.array(hostileBody, { minLength: 100, maxLength: 100 });
  const property = fc.asyncProperty(batch, async (bodies) => void (joined += await sendBatch(url, bodies, query)));
  const { failed, seed, counterexamplePath, errorInstance } = await fc.check(property, {
    numRuns: runs,
    endOnFailure: true,
  });
  // Not fast-check's own report, which would print all hundred bodies.
  if (failed) throw new Error(`seed ${seed}, path ${counterexamplePath}`, { cause: errorInstance });
  return joined;
}

async function sendBatch(url: string, bodies: HostileBody[], query: Query): Promise<number> {
  const sent = await Promise.all(bodies.map((body) => send(url, body)));
  for (const { status, answer, type } of sent) {
    assert([201, 303, 400, 413, 415, 422].includes(status), `status ${status}: ${answer.slice(0, 300)}`);
    assert(
      !/\n\s+at |node:internal|Error:.*\.(ts|js):\d/.test(answer),
      `an answer with a stack: ${answer.slice(0, 300)}`,
    );
    if (status >= 400) assert(/^(application\/problem\+json|text\/html)/.test(type), `${status} as ${type}`);
  }
  const joined = sent.filter(({ status }) => status < 400);
  const rows = (await query(byTag, [sent.map(({ tag }) => tag)])) as unknown as Stored[];
  // fast-check's own addresses have no tag and may come twice.
  const expected = joined.map(({ fields }) => normalised(fields)).filter((row) => tagIn.test(row.email));
  const byEmail = (a: Stored, b: Stored) => (a.email < b.email ? -1 : 1);
  assert.deepEqual(rows.toSorted(byEmail), expected.toSorted(byEmail));
  return joined.length;
}

async function send(url: string, { plain: given, sending: how }: HostileBody): Promise<Sent> {
  const tag = `t${randomBytes(8).toString("hex")}`;
  const said = given.text.replaceAll("TAG", tag);
  const padded = how.length > 0 ? said.replace(/(?<=company(":"|=))/, "x".repeat(how.length)) : said;
  const body = compress(Buffer.from(padded, how.bytes as BufferEncoding), how.encoding);
  const headers: Record<string, string | number> = {
    "Content-Type": how.type ?? given.type + how.charset,
    "Content-Length": body.length,
    ...(how.html ? { Accept: "text/html" } : {}),
    ...(how.encoding ? { "Content-Encoding": how.encoding.replace(" that is none", "") } : {}),
  };
  if (how.type === "") delete headers["Content-Type"];
  return { ...(await post(url, headers, body)), tag, fields: read(given.type, padded) };
}

function compress(body: Buffer, encoding: string): Buffer {
  if (encoding === "gzip") return gzipSync(body);
  if (encoding === "deflate") return deflateSync(body);
  if (encoding === "br") return brotliCompressSync(body);
  return body;
}

function post(url: string, headers: Record<string, string | number>, body: Buffer) {
  return new Promise<Omit<Sent, "fields" | "tag">>((resolve, reject) => {
    const sent = request(`${url}/api/earlyaccess`, { method: "POST", agent, headers }, (response) => {
      let answer = "";
      response.setEncoding("utf8").on("data", (chunk: string) => (answer += chunk));
      response.once("end", () => {
        sent.destroy(); // A refusal may come before all of the body is sent.
        resolve({ status: response.statusCode ?? 0, answer, type: response.headers["content-type"] ?? "" });
      });
    });
    sent.once("error", (error: NodeJS.ErrnoException) => {
      // Refused and closed while megabytes were still on their way: the answer may be lost with them.
      const closed = ["EPIPE", "ECONNRESET"].includes(error.code ?? "") && body.length > 64 * 1024;
      if (closed) resolve({ status: 413, answer: "", type: "application/problem+json" });
      // A kept connection that the server closed in this moment, as HTTP allows.
      else if (error.code === "ECONNRESET" && sent.reusedSocket) resolve(post(url, headers, body));
      else reject(error);
    });
    sent.end(body);
  });
}

function read(type: string, said: string): Record<string, unknown> {
  if (type === form) return Object.fromEntries(new URLSearchParams(said));
  try {
    return Object(JSON.parse(said)) as Record<string, unknown>;
  } catch {
    return {};
  }
}

/** The documented normalisation, written a second time: trimmed, NFC, the address lower-cased with its domain in ASCII. */
function normalised(fields: Record<string, unknown>): Stored {
  const clean = (name: string) => ((fields[name] ?? "") as string).trim().normalize("NFC");
  const [, local = "", domain = ""] = /^(.*)@(.*)$/.exec(clean("email")) ?? [];
  return {
    name: clean("name"),
    email: `${local}@${new URL(`http://${domain}`).hostname}`.toLowerCase(),
    company: clean("company"),
    job_title: clean("job_title") || null,
  };
}
