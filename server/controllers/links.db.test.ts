// The links to an entry: POST /confirm says whether the link is valid, POST /leave does not.
import { createHash } from "node:crypto";
import request from "supertest";
import { beforeEach, expect, it } from "vitest";
import { linkPages } from "../../client/shared/content.ts";
import { undoMinutes } from "../../client/shared/promised-times.ts";
import { tokenPattern } from "../../client/shared/paths.ts";
import { createToken, hashToken } from "../models/entry-tokens.ts";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";
import { createTestDatabase } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/postgres.ts";
import { pageText } from "../../tests/support/copy.ts";

const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };

const database = await createTestDatabase("mail");
const site = await createTestApp(database.webUrl);

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const entries = () =>
  database.query("SELECT email, confirmed_at IS NOT NULL AS confirmed FROM earlyaccess ORDER BY email");
const unconfirmed = ({ email }: { email: string }) => ({ email, confirmed: false });
const post = (path: string) => request(site.app).post(path).set("Accept", "text/html");
const newToken = () => createToken().token;

async function signUp(entry: object = ada, { app } = site): Promise<string> {
  const { status, body } = await request(app).post("/api/earlyaccess").send(entry);
  expect([status, body.undo]).toEqual([201, expect.stringMatching(/^[\da-f]{32}$/)]);
  return body.undo as string;
}

/** Signs up, and stores a token as the worker does when it sends the mail. */
async function mail({ token, hash } = createToken()): Promise<string> {
  await signUp();
  await database.query("UPDATE earlyaccess SET mail_tokens = ARRAY[$1::bytea], mailed_at = now()", [hash]);
  return token;
}

it.each([
  ["/confirm", linkPages.confirm],
  ["/leave", linkPages.leave],
])("GET %s has one button and changes nothing, also for a mail scanner that opens every link", async (path, copy) => {
  const token = await mail();
  const page = await request(site.app).get(`${path}?utm_source=mail&token=${token}`);
  expect([page.status, page.headers["cache-control"]]).toEqual([200, "no-store, no-transform"]);
  expect(pageText(page.text)).toContain(`${copy.heading} ${copy.text} ${copy.button}`);
  expect(page.text.match(/<button/g)).toHaveLength(1);
  expect(page.text).not.toContain(token);
  expect(await entries()).toEqual([{ email: ada.email, confirmed: false }]);
});

it("each token has 128 random bits, and the list has only its hash", () => {
  const { token: known, hash } = createToken();
  expect(hash).toBe(`\\x${createHash("sha256").update(known).digest("hex")}`);
  const tokens = Array.from({ length: 5_000 }, newToken);
  expect(new Set(tokens).size).toBe(5_000);
  for (let i = 0; i < 32; i++) expect(new Set(tokens.map((token) => token[i])).size, `digit ${i}`).toBe(16);
});

const cut = "a".repeat(31);
it.each([
  "/confirm",
  "/leave?",
  `/leave?token=${cut}`,
  `/leave?token=${"a".repeat(22)}`,
  `/confirm?token=${cut}&utm_source=x`,
  `/confirm?token=${cut}aa`,
  `/confirm?token=${cut}x`,
])(
  "GET %s, a link that a mail program cut, returns a page that says what to do, and a POST changes nothing",
  async (path) => {
    expect(pageText((await request(site.app).get(path)).text)).toContain(linkPages.dead.text);
    expect((await post(path)).status).toBe(405);
  },
);

const beginsWith3d = `3d3d${"0".repeat(28)}`;
const tokensOfMails: [name: string, create: typeof createToken][] = [
  ["of a mail", createToken],
  ["that begins with 3d", () => ({ token: beginsWith3d, hash: hashToken(beginsWith3d) })],
];
/** What mail programs made of "#". */
const dirtyQueries = [
  "token=#>",
  "token=#.",
  "token=#=",
  "token=#%3E",
  "token=#%20",
  "token=%20#%0D%0A",
  "token=%3C#%3E",
  "token=#?utm_source=x",
  "token=#&utm_source=x",
  "token==#",
  "token=#,",
  'token=#"',
  "token=3D#",
  "token=3d#",
  "token=%3D#",
  "token=3D3D#",
  "token%3D#",
  "token%3d3D#",
  "TOKEN=#",
  "amp;token=#",
  "utm_source=x&amp;token=#",
  "x&amp;amp;token=3D#",
];

it.each(tokensOfMails)("a link with a token %s works, however a mail program changed it", async (_, create) => {
  const created = create();
  for (const query of dirtyQueries) {
    const token = tokenPattern("token").exec(query.replace("#", created.token))?.[1];
    expect(token, query).toBe(created.token);
  }
  await mail(created);
  const query = `utm_source=x&amp;token%3D3D${created.token}%3E`;
  expect(pageText((await request(site.app).get(`/confirm?${query}`)).text)).toContain(linkPages.confirm.button);
  expect(pageText((await post(`/confirm?${query}`)).text)).toContain(linkPages.confirmed.heading);
  await post(`/leave?${query}`);
  expect(await entries()).toEqual([]);
});

it.each([
  ["capitals", (token: string) => token.toUpperCase()],
  ["small letters", (token: string) => token.toLowerCase()],
])("links and the undo button work after a gateway wrote them in %s", async (_, change) => {
  const token = change(await mail());
  expect(pageText((await post(`/confirm?token=${token}`)).text)).toContain(linkPages.confirmed.heading);
  await post(`/leave?token=${token}`);
  expect(await entries()).toEqual([]);
  for (const [path, expected] of [
    ["/?undo=", [303, "/?undone#early-access", "no-store, no-transform"]],
    ["/leave?token=", [200, undefined, "private, no-cache, no-transform"]],
  ] as const) {
    const { status, headers } = await post(path + change(await signUp()));
    expect([status, headers.location, headers["cache-control"]]).toEqual(expected);
    expect(await entries()).toEqual([]);
  }
});

it("POST /confirm sets the time of the confirmation once", async () => {
  const token = await mail();
  const page = await post(`/confirm?utm_source=mail&token=${token}`);
  expect(pageText(page.text)).toContain(linkPages.confirmed.heading);
  const dead = await post(`/confirm?token=${newToken()}`);
  expect([page, dead].map(({ headers }) => headers["cache-control"])).toEqual(
    Array(2).fill("private, no-cache, no-transform"),
  );
  const [first] = await database.query("SELECT confirmed_at FROM earlyaccess");
  expect(first?.confirmed_at).toBeInstanceOf(Date);
  expect((await post(`/confirm?token=${token}`)).text).toBe(page.text);
  expect(await database.query("SELECT confirmed_at FROM earlyaccess")).toEqual([first]);
});

const form = "application/x-www-form-urlencoded";
it.each([
  ["the page's button", form, ""],
  ["a mail provider's one-click request (RFC 8058) as a form", form, "List-Unsubscribe=One-Click"],
  ["one as multipart", "multipart/form-data; boundary=x", "List-Unsubscribe=One-Click"],
])("POST /leave for %s deletes the entry, also after a year, and keeps the hash", async (_, type, body) => {
  await database.query("TRUNCATE earlyaccess_kept.addresses");
  const token = await mail();
  await database.query("UPDATE earlyaccess SET created_at = now() - interval '1 year'");
  await signUp({ ...ada, email: "bob@example.com" });
  const headers = { "Content-Type": type, "If-None-Match": "*" };
  const { status, text } = await request(site.app).post(`/leave?token=${token}`).set(headers).send(body);
  expect(status).toBe(200);
  expect(pageText(text)).toContain(linkPages.left.text);
  expect(await entries()).toEqual([{ email: "bob@example.com", confirmed: false }]);
  const erased = await database.query(
    "SELECT FROM earlyaccess_kept.addresses WHERE hash = earlyaccess_kept.hash_email($1)",
    [ada.email],
  );
  expect(erased).toHaveLength(1);
});

/** Adds the row of the worker after it sent the mailing to Ada. Returns the token of its link. */
async function sendMailing(outcome: string): Promise<string> {
  await signUp();
  const { token, hash } = createToken();
  await database.query(
    `INSERT INTO earlyaccess_kept.mailing_recipients (name, entry_id, place, outcome, due_at, token_hash)
     SELECT 'launch', id, 1, $2, NULL, $1 FROM earlyaccess`,
    [hash, outcome],
  );
  return token;
}

it.each(["sent", "unknown"])("the link of a mailing removes the entry and confirms nothing: %s", async (outcome) => {
  const token = await sendMailing(outcome);
  await signUp({ ...ada, email: "bob@example.com" });
  expect(pageText((await post(`/confirm?token=${token}`)).text)).toContain(linkPages.dead.heading);
  await post(`/leave?token=${token}`);
  expect(await entries()).toEqual([unconfirmed({ email: "bob@example.com" })]);
});

it("a forged token reads no list: a flood of them would cost the database a second each", async () => {
  // In a session of its own: one counts what its earlier transactions read, too.
  const rows = await queryAs(
    database.ownerUrl,
    `WITH entry AS (INSERT INTO earlyaccess (id, name, email, company, imported, mail_tokens)
       SELECT gen_random_uuid(), 'A', i || '@example.com', 'C', true, ARRAY[sha256(i::text::bytea)] FROM generate_series(1, 2000) i RETURNING id)
     INSERT INTO earlyaccess_kept.mailing_recipients (name, entry_id, place, outcome, due_at, token_hash)
       SELECT 'many', id, 1, 'sent', NULL, sha256(id::text::bytea) FROM entry;
     ANALYZE earlyaccess, earlyaccess_kept.mailing_recipients;
     BEGIN;
     SELECT earlyaccess_leave(sha256('forged')), earlyaccess_confirm(sha256('forged'));
     SELECT relname, seq_tup_read::int + coalesce(idx_tup_fetch, 0)::int AS read FROM pg_stat_xact_user_tables
     WHERE relname IN ('earlyaccess', 'mailing_recipients') ORDER BY relname`,
  );
  expect(rows).toEqual([
    { relname: "earlyaccess", read: 0 },
    { relname: "mailing_recipients", read: 0 },
  ]);
});

it("an undo confirms nothing, and removes the entry of its own sign-up alone, as long as the page says", async () => {
  const known = [{ email: ada.email, confirmed: false }];
  const [token, ofKnown] = [await signUp(), await signUp({ ...ada, name: "Somebody else" })];
  expect(pageText((await post(`/confirm?token=${token}`)).text)).toContain(linkPages.dead.heading);
  await post(`/leave?token=${ofKnown}`);
  // Later, whoever signed up another person could remove the entry.
  await database.query(`UPDATE earlyaccess SET created_at = now() - interval '${undoMinutes + 1} minutes'`);
  await post(`/leave?token=${token}`);
  expect(await entries()).toEqual(known);
  await database.query(`UPDATE earlyaccess SET created_at = now() - interval '${undoMinutes - 1} minutes'`);
  await post(`/leave?token=${token}`);
  expect(await entries()).toEqual([]);
});

it.each([
  ["/confirm", false],
  ["/leave", true],
])("a forged token has no effect on %s (same response as for a valid one: %s)", async (path, isSame) => {
  const valid = await mail();
  const forged = await post(`${path}?token=${newToken()}`);
  expect(await entries()).toEqual([{ email: ada.email, confirmed: false }]);
  const { status, text } = await post(`${path}?token=${valid}`);
  expect([status, text === forged.text]).toEqual([forged.status, isSame]);
});

it("a client gets 429 after a hundred times SIGNUP_LIMIT requests, and its sign-ups still work", async () => {
  const limited = await createTestApp(noDatabase, { signupLimit: 1 });
  const follow = async (path: string) => (await request(limited.app).post(path + newToken())).status;
  const statuses = await Promise.all(Array.from({ length: 100 }, () => follow("/leave?token=")));
  const further = ["/leave?token=", "/confirm?token=", "/?undo="].map(follow);
  expect([...new Set(statuses), ...(await Promise.all(further))]).toEqual([503, 429, 429, 429]);
  expect(limited.logged()).toContain('"code":"DatabaseNotReachable"'); // As docs/incident.md says.
  expect((await request(limited.app).post("/api/earlyaccess").send(ada)).status).toBe(503);
});
