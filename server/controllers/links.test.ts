// The links to an entry: POST confirms its address, and says whether the link is valid, or deletes it, and does not say.
import { createHash, randomBytes } from "node:crypto";
import request from "supertest";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { createTestApp, noDatabase, testSettings, type TestApp } from "../../tests/support/app.ts";
import { createEmptyDatabase, type TestDatabase } from "../../tests/support/database.ts";
import { queryAs } from "../../tests/support/query.ts";
import { hashAddress } from "../database/erasure-key.ts";
import { migrate } from "../database/migrate.ts";

const erasureKey = "a-key-of-the-tests-with-enough-characters";
const ada = { name: "Ada", email: "ada@example.com", company: "Engines" };

let database: TestDatabase;
let site: TestApp;

beforeAll(async () => {
  database = await createEmptyDatabase();
  await migrate({ ...database, erasureKey });
  site = await createTestApp(database.webUrl);
});

afterAll(async () => {
  await site.close();
  await database.drop();
});

beforeEach(() => database.query("TRUNCATE earlyaccess"));

const entries = () =>
  database.query("SELECT email, confirmed_at IS NOT NULL AS confirmed FROM earlyaccess ORDER BY email");
const post = (path: string) => request(site.app).post(path).set("Accept", "text/html");
const newToken = () => randomBytes(16).toString("base64url");

async function signUp(entry: object = ada): Promise<string> {
  const { status, body } = await request(site.app).post("/api/earlyaccess").send(entry);
  expect([status, body.undo]).toEqual([201, expect.stringMatching(/^[\w-]{22}$/)]);
  return body.undo as string;
}

/** Signs up, and stores a token as the worker does when it sends the mail. */
async function mail(): Promise<string> {
  await signUp();
  const token = newToken();
  const hash = createHash("sha256").update(token).digest();
  const erasure = hashAddress(ada.email, erasureKey);
  await database.query("UPDATE earlyaccess SET mail_tokens = ARRAY[$1::bytea], erasure_hash = $2, mailed_at = now()", [
    hash,
    erasure,
  ]);
  return token;
}

describe("GET", () => {
  it.each([
    ["/confirm", "Confirm your address"],
    ["/leave", "Leave the list"],
  ])("%s has one button and changes nothing, also for a mail scanner that opens every link", async (path, text) => {
    const token = await mail();
    for (const address of [`${path}?token=${token}`, `${path}?utm_source=mail&token=${token}`]) {
      const page = await request(site.app).get(address);
      expect(page.headers["cache-control"]).toBe("no-store");
      expect([page.status, page.text.match(/<button/g)?.length]).toEqual([200, 1]);
      expect(page.text).toContain(text);
      expect(page.text).toContain('<meta name="robots" content="noindex">');
      expect(page.text).not.toContain(token);
      expect((await request(site.app).head(address)).status).toBe(200);
    }
    expect(await entries()).toEqual([{ email: ada.email, confirmed: false }]);
  });

  it.each(["/confirm", "/leave", "/leave?token=", "/leave?token=short", `/confirm?token=${"x".repeat(23)}`])(
    "%s, without a complete token, returns 404, as POST does",
    async (path) => {
      expect((await request(site.app).get(path)).status).toBe(404);
      expect((await post(path)).status).toBe(404);
    },
  );
});

it("POST /confirm sets the time of the confirmation once", async () => {
  const token = await mail();
  const page = await post(`/confirm?token=${token}`);
  expect([page.status, page.headers["cache-control"]]).toEqual([200, "no-store"]);
  expect(page.text).toContain("Your address is confirmed");
  const [first] = await database.query("SELECT confirmed_at FROM earlyaccess");
  expect(first?.confirmed_at).toBeInstanceOf(Date);
  expect((await post(`/confirm?token=${token}`)).text).toBe(page.text);
  expect(await database.query("SELECT confirmed_at FROM earlyaccess")).toEqual([first]);
});

it("the token of an undo button confirms nothing, because nobody has read a mail", async () => {
  expect((await post(`/confirm?token=${await signUp()}`)).text).toContain("This link has expired");
  expect(await entries()).toEqual([{ email: ada.email, confirmed: false }]);
});

it("POST /leave deletes the entry, and keeps the hash of its address", async () => {
  const token = await mail();
  await signUp({ ...ada, email: "bob@example.com" });
  expect((await post(`/leave?token=${token}`)).text).toContain("is no longer on the early access list");
  expect(await entries()).toEqual([{ email: "bob@example.com", confirmed: false }]);
  const [erased] = await database.query("SELECT FROM earlyaccess_erasures.addresses WHERE hash = $1", [
    hashAddress(ada.email, erasureKey),
  ]);
  expect(erased).toBeDefined();
});

it("a mail provider's one-click request (RFC 8058) deletes the entry without a redirect, in both encodings", async () => {
  const types = ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"];
  for (const type of types) {
    const token = await mail();
    const address = `/leave?token=${token}`;
    const { status } = await request(site.app)
      .post(address)
      .set("Content-Type", type)
      .send("List-Unsubscribe=One-Click");
    expect([status, await entries()]).toEqual([200, []]);
  }
});

describe("undo", () => {
  it("removes the new entry, and nothing for an address that was known", async () => {
    const first = await signUp();
    const second = await signUp({ ...ada, name: "Somebody else" });
    await post(`/leave?token=${second}`);
    expect(await entries()).toHaveLength(1);
    await post(`/leave?token=${first}`);
    expect(await entries()).toEqual([]);
  });

  it("has no effect after an hour, so that nobody can sign up another person and remove the entry later", async () => {
    const token = await signUp();
    await database.query("UPDATE earlyaccess SET created_at = now() - interval '61 minutes'");
    expect((await post(`/leave?token=${token}`)).status).toBe(200);
    expect(await entries()).toHaveLength(1);
    await database.query("UPDATE earlyaccess SET created_at = now() - interval '59 minutes'");
    await post(`/leave?token=${token}`);
    expect(await entries()).toEqual([]);
  });

  it("without JavaScript posts to the page with the token, and leads to the form", async () => {
    const joined = await request(site.app).post("/api/earlyaccess").set("Accept", "text/html").type("form").send(ada);
    const address = (joined.headers.location as string).replace("#early-access", "");
    expect((await request(site.app).get(address)).text).toContain("Wrong address? Undo");
    const undone = await post(address);
    expect([undone.status, undone.headers.location, await entries()]).toEqual([303, "/?undone#early-access", []]);
    expect((await request(site.app).get("/?undone")).text).toContain("Your sign-up has been undone");
  });

  it("is not offered if the site sends mails, which are announced instead", async () => {
    const settings = () => ({ ...testSettings(), mail: true });
    const mailing = await createTestApp(database.webUrl, { site: { ...site.options.site, settings }, undo: false });
    const { body } = await request(mailing.app).post("/api/earlyaccess").send(ada);
    expect(body).toEqual({ message: expect.any(String) });
    const page = await request(mailing.app).get(`/?joined&undo=${newToken()}`);
    expect(page.text).not.toContain("Undo");
    expect(page.text).toContain("Please check your inbox");
    expect(page.text).toContain("You&#x27;re now on the early access list. We&#x27;ll notify you when we launch!");
    await mailing.close();
  });
});

it("forged tokens have no effect, and get the response of a valid one to /leave and of an expired one to /confirm", async () => {
  const valid = await mail();
  const flood = await createTestApp(database.webUrl, { signups: { limit: 1_000_000, windowSeconds: 600 } });
  const respond = async (path: string, token: string) => {
    const { status, headers, text } = await request(flood.app).post(`${path}?token=${token}`);
    const { date: _date, "x-request-id": _id, ratelimit: _limit, ...rest } = headers;
    return JSON.stringify([status, rest, text]);
  };
  for (const path of ["/confirm", "/leave"]) {
    const responses: string[] = [];
    for (let batch = 0; batch < 25; batch++) {
      responses.push(...(await Promise.all(Array.from({ length: 20 }, () => respond(path, newToken())))));
    }
    expect(await entries()).toEqual([{ email: ada.email, confirmed: path === "/leave" }]);
    expect(new Set(responses).size).toBe(1);
    expect(responses[0] === (await respond(path, valid))).toBe(path === "/leave");
  }
  expect(await entries()).toEqual([]);
  await flood.close();
});

it("a client gets 429 after a hundred times SIGNUP_LIMIT requests, also if it hangs up, and its sign-ups still work", async () => {
  const limited = await createTestApp(noDatabase, { signups: { limit: 1, windowSeconds: 600 } });
  const statuses = [];
  for (let i = 0; i < 101; i++) statuses.push((await request(limited.app).post(`/leave?token=${newToken()}`)).status);
  expect(statuses).toEqual([...Array.from({ length: 100 }, () => 503), 429]);
  expect((await request(limited.app).post("/api/earlyaccess").send(ada)).status).toBe(503);
  await limited.close();
});

it("without a database, says so and asks to try again", async () => {
  const offline = await createTestApp(noDatabase);
  const response = await request(offline.app).post(`/leave?token=${newToken()}`).set("Accept", "text/html");
  expect([response.status, response.type, response.headers["retry-after"]]).toEqual([503, "text/html", "15"]);
  await offline.close();
});

it("the functions return whether a token is valid, which is not said of an entry that got no mail", async () => {
  const call = async (name: string, token: string) => {
    const hash = createHash("sha256").update(token).digest();
    const [row] = await queryAs(database.webUrl, `SELECT public.earlyaccess_${name}($1) AS valid`, [hash]);
    return row?.valid;
  };
  const undo = await signUp();
  expect(await call("confirm", undo)).toBe(false);
  expect([await call("leave", undo), await call("leave", undo)]).toEqual([true, false]);
  const token = await mail();
  expect([await call("confirm", token), await call("confirm", token)]).toEqual([true, true]);
  expect([await call("leave", token), await call("confirm", token)]).toEqual([true, false]);
});

it("the web role may execute the two functions, and read none of the tables and columns", async () => {
  const denied = { code: "42501" };
  const columns = await database.query(
    `SELECT format('SELECT %s FROM %s.%s', column_name, table_schema, table_name) AS statement FROM information_schema.columns
     WHERE table_name LIKE 'earlyaccess%' AND table_schema = 'public' OR table_schema = 'earlyaccess_erasures'`,
  );
  expect(columns.length).toBeGreaterThan(30);
  for (const { statement } of columns as { statement: string }[]) {
    await expect(queryAs(database.webUrl, statement), statement).rejects.toMatchObject(denied);
  }
  const returned = await queryAs(database.webUrl, "SELECT public.earlyaccess_leave('\\x00') AS result");
  expect(returned).toEqual([{ result: false }]);
});
