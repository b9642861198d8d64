// Hostile sign-up bodies: no server error, no stack trace, and each stored entry is what was sent.
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import { createTestDatabase } from "./support/database.ts";
import { form, hostileBody, type HostileBody } from "./support/hostile-body.ts";
import { ready, startSite } from "./support/site.ts";

const batches = 10;
const batchSize = 100;

const database = await createTestDatabase();
const site = await startSite({
  env: { DATABASE_URL: database.webUrl, SIGNUP_LIMIT: "1000000", SIGNUP_HOURLY_CEILING: "0" },
});
await ready(site);

afterAll(() => site.stop());

// A failure prints its seed; FUZZ_SEED=… repeats it.
it(`the site withstands ${batches * batchSize} hostile bodies, and stores exactly those that it accepts`, async () => {
  const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 2 ** 31);
  let accepted = 0;
  const batch = fc.array(hostileBody, { minLength: batchSize, maxLength: batchSize });
  const property = fc.asyncProperty(batch, async (bodies) => void (accepted += await sendBatch(bodies)));
  const { failed, errorInstance } = await fc.check(property, { numRuns: batches, seed, endOnFailure: true });
  // fast-check's own report would print a hundred bodies.
  if (failed) throw new Error(`Repeat this with FUZZ_SEED=${seed}`, { cause: errorInstance });
  expect(accepted).toBeGreaterThan((batches * batchSize) / 10); // Else the bodies are too odd to show anything.
  expect(site.process.exitCode).toBeNull();
  expect(site.stderr()).toBe("");
}, 180_000);

interface Answer {
  status: number;
  text: string;
  type: string;
}

interface Sent extends Answer {
  tag: string;
  /** The fields in the bytes that were sent; empty if the bytes cannot be parsed. */
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

/** In bytes; the server answers a longer body with 413. */
const bodyLimit = 16 * 1024;

/** Returns how many sign-ups were accepted. */
async function sendBatch(bodies: HostileBody[]): Promise<number> {
  const sent = await Promise.all(bodies.map(send));
  for (const { status, text, type } of sent) {
    assert([201, 303, 400, 413, 415, 422].includes(status), `status ${status}: ${text.slice(0, 300)}`);
    assert(!/\n\s+at |node:internal|Error:.*\.(ts|js):\d/.test(text), `a stack: ${text.slice(0, 300)}`);
    if (status >= 400) assert(/^(application\/problem\+json|text\/html)/.test(type), `${status} as ${type}`);
  }
  const accepted = sent.filter(({ status }) => status < 400);
  const rows = (await database.query(byTag, [sent.map(({ tag }) => tag)])) as unknown as Stored[];
  // fast-check's own addresses have no tag and may come twice.
  const expected = accepted.map(({ fields }) => normalised(fields)).filter((row) => tagIn.test(row.email));
  const byEmail = (a: Stored, b: Stored) => (a.email < b.email ? -1 : 1);
  assert.deepEqual(rows.toSorted(byEmail), expected.toSorted(byEmail));
  return accepted.length;
}

async function send({ plain: given, sending: how }: HostileBody): Promise<Sent> {
  const tag = `t${randomBytes(8).toString("hex")}`;
  const said = given.text.replaceAll("TAG", tag);
  const padded = how.length > 0 ? said.replace(/(?<=company(":"|=))/, "x".repeat(how.length)) : said;
  const body = Buffer.from(padded, how.bytes as BufferEncoding);
  const headers = {
    "Content-Type": how.type ?? given.type + how.charset,
    ...(how.html ? { Accept: "text/html" } : {}),
    ...(how.encoding ? { "Content-Encoding": how.encoding.replace(" that is none", "") } : {}),
  };
  // Latin-1 bytes may be valid UTF-8 of another text than the one they were made from.
  const charset = how.charset.includes("UTF-16LE") ? "utf-16le" : "utf-8";
  const fields = read(given.type, new TextDecoder(charset).decode(body));
  let answer = await post(headers, body);
  while (answer.status === 503) answer = await post(headers, body); // A busy machine: the entry may be sent again.
  return { ...answer, tag, fields };
}

async function post(headers: Record<string, string>, body: Buffer<ArrayBuffer>): Promise<Answer> {
  try {
    const init = { method: "POST", headers, body, redirect: "manual" as const };
    const response = await fetch(`${site.url}/api/earlyaccess`, init);
    return { status: response.status, text: await response.text(), type: response.headers.get("content-type") ?? "" };
  } catch (error) {
    // The server may refuse a body over its limit and close before all of it is sent; the response may then be lost.
    if (body.length > bodyLimit) return { status: 413, text: "", type: "application/problem+json" };
    throw error;
  }
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
