// TLS and logins between the worker and the mail server.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificate } from "../support/certificate.ts";
import { createMailFixture } from "../support/mail-fixture.ts";

const fixture = createMailFixture();
const { signUp, startWorker, mailed, emptied, failed } = fixture;
const login = { user: "ada@perennial.example", password: "p@ss:w/ö rd%" };

let folder: string;
let trusting: { NODE_EXTRA_CA_CERTS: string };

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "perennial-mail-tls-"));
  trusting = { NODE_EXTRA_CA_CERTS: join(folder, "ca.pem") };
  await writeFile(trusting.NODE_EXTRA_CA_CERTS, certificate);
});

afterAll(() => rm(folder, { recursive: true }));

describe("mails go out", () => {
  it.each([
    ["with TLS and a login", { encryption: "TLS", login }, { secure: true, user: login.user }],
    ["with STARTTLS and a login", { encryption: "STARTTLS", login }, { secure: true, user: login.user }],
    ["with STARTTLS, which is offered, without a login", { encryption: "STARTTLS" }, { secure: true, user: undefined }],
    ["without encryption, without a login", { encryption: "none" }, { secure: false, user: undefined }],
  ] as const)("%s", async (_, server, expected) => {
    await fixture.openServer(server);
    await startWorker(trusting);
    expect(await signUp("ada@example.com")).toBe(201);
    await mailed(1);
    await emptied();
    expect(fixture.server.mails[0]).toMatchObject(expected);
  });
});

describe("no mail and no password is sent", () => {
  it("if a login would travel unencrypted", async () => {
    await fixture.openServer({ login });
    await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await failed()).toMatch(/^Mail server error: (500|502).* to STARTTLS$/);
    expect(fixture.server.recipients).toEqual([]);
  });

  it.each(["TLS", "STARTTLS"] as const)("with %s and a certificate that is not trusted", async (encryption) => {
    await fixture.openServer({ encryption, login });
    await startWorker();
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await failed()).toBe("Mail server error: DEPTH_ZERO_SELF_SIGNED_CERT");
    expect(fixture.server.recipients).toEqual([]);
  });

  it("with a wrong password, which is in no log", async () => {
    await fixture.openServer({ encryption: "TLS", login });
    const wrong = Object.assign(new URL(fixture.server.url), { password: "hunter2" }).href;
    const worker = await startWorker({ ...trusting, SMTP_URL: wrong });
    expect(await signUp("ada@example.com")).toBe(201);
    expect(await failed()).toBe("Mail server error: 535 to AUTH PLAIN");
    expect(fixture.server.recipients).toEqual([]);
    expect(worker.stdout() + worker.stderr()).not.toMatch(/hunter2|\bada\b|lovelace|smtps:/i);
    expect(await fixture.database.query("SELECT mail_refusal FROM earlyaccess")).toEqual([{ mail_refusal: null }]);
  });
});
