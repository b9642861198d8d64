// The privacy page and what other pages say about privacy, with and without the operator's settings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import request from "supertest";
import { expect, it } from "vitest";
import { explanations } from "../../client/shared/privacy-notice.ts";
import { createTestApp, noDatabase, testSettings, type TestApp } from "../../tests/support/app.ts";
import { readConfig } from "../config/load-config.ts";
import { createPageSettings } from "../models/page-settings.ts";
import { projectRoot } from "../project-root.ts";

const settings = {
  ...testSettings(),
  controller: "Perennial <Inc.>, 1 Garden Way",
  contact: "privacy@perennial.example",
  recipients: "Hosting Ltd. (Ireland) runs our server.",
  links: [{ label: "Imprint", url: "https://perennial.example/imprint?a=b&c=d" }],
};

const named = await createTestApp(noDatabase, { site: { settings: () => settings } });
const unnamed = await createTestApp();

const get = async ({ app }: TestApp, path: string) => (await request(app).get(path).set("Accept", "text/html")).text;
const link = 'href="mailto:privacy@perennial.example"';

it("/privacy names who keeps the list, and explains every column of an entry, and no other", async () => {
  const schema = readFileSync(join(projectRoot, "prisma/schema.prisma"), "utf8");
  const [, model = ""] = /^model WaitlistEntry \{\n(.*?)^\}/ms.exec(schema) ?? [];
  const columns = [...model.matchAll(/^ {2}(\w+) /gm)].map(([, column = ""]) => column);
  expect(explanations.flatMap((explanation) => explanation.columns).toSorted()).toEqual(columns.toSorted());
  const mailing = { ...settings, keepsErasures: true, mail: true };
  const app = await createTestApp(noDatabase, { site: { settings: () => mailing } });
  const page = await get(app, "/privacy");
  expect(page).toContain("Perennial &lt;Inc.&gt;, 1 Garden Way");
  expect(page).toMatch(/Name, email address, company(?:, [\w ]+)* and, if you give (?:it|them), job title/);
  for (const { what, why } of explanations) {
    expect(page).toContain(what);
    expect(page).toContain(why);
  }
});

it("both pages name the contact, also after a failed post, and the legal links, and promise no answer without a contact", async () => {
  for (const path of ["/", "/privacy"]) {
    const page = await get(named, path);
    expect(page, path).toContain(link);
    expect(page, path).toContain('<a href="https://perennial.example/imprint?a=b&amp;c=d">Imprint</a>');
    const other = await get(unnamed, path);
    expect(other, path).not.toMatch(/mailto:|delete|reply to|write to/i);
    expect(other, path).toContain('href="/privacy"');
  }
  const failed = await request(named.app).post("/api/earlyaccess").type("form").set("Accept", "text/html").send("a=b");
  expect([failed.status, failed.text]).toEqual([422, expect.stringContaining(link)]);
});

type Variables = Record<string, string>;

/** A part of the notice, and whether it holds for a site with the variables. */
const claims: [text: string, holds: (variables: Variables) => unknown][] = [
  ["1 Garden Way", ({ CONTROLLER }) => CONTROLLER],
  ["invited, joined or left, and with which group you were invited", () => true],
  ["the server counts for at most two days, apart from your entry, how often each network address", () => true],
  ["The time of our confirmation mail", ({ MAIL_FROM }) => MAIL_FROM],
  ["you consent that we keep what you enter and contact you about early access", () => true],
  ["abuse, the fingerprint of a removed address and the proof of this notice rest", ({ ERASURE_KEY }) => ERASURE_KEY],
  ["and the proof of this notice rest on our legitimate interest in an honest list", () => true],
  ["Signing up is voluntary, but it needs your name, email address and company", () => true],
  ["Companies that run our server and send our mail", ({ RECIPIENTS }) => !RECIPIENTS],
  ["Hosting Ltd. (Ireland) runs our server", ({ RECIPIENTS }) => RECIPIENTS],
  ["We remove an entry 24 months after the sign-up", ({ RETENTION_MONTHS }) => RETENTION_MONTHS],
  ["We keep an entry until early access ends", ({ RETENTION_MONTHS }) => !RETENTION_MONTHS],
  ["You can withdraw your consent at any time; what we did until then stays lawful", () => true],
  ["The link in our mail removes your entry", ({ MAIL_FROM }) => MAIL_FROM],
  [
    "the button “Wrong address? Undo” on the page after your sign-up removes your entry; after a repeated",
    ({ MAIL_FROM }) => !MAIL_FROM,
  ],
  ["You can also write to us", ({ CONTACT_EMAIL }) => CONTACT_EMAIL],
  ["After we remove an entry, we keep a fingerprint of its address", ({ ERASURE_KEY }) => ERASURE_KEY],
  ["At any time, you can object to what rests on our legitimate interest", () => true],
  ["to have it corrected or removed, to restrict its use, and to get a copy that other programs can read", () => true],
  ["complain to a data protection authority", () => true],
  ["or to complain to us, write to", ({ CONTACT_EMAIL }) => CONTACT_EMAIL],
];

const { controller: CONTROLLER, contact: CONTACT_EMAIL, recipients: RECIPIENTS } = settings;
const ERASURE_KEY = "a-key-of-32-characters-for-tests";
const mail = { MAIL_FROM: "hello@perennial.example", PUBLIC_URL: "https://perennial.example" };
const changes = [
  { CONTROLLER },
  { CONTACT_EMAIL },
  { RECIPIENTS },
  { RETENTION_MONTHS: "24" },
  { ERASURE_KEY },
  { ERASURE_KEY, ...mail },
];

it("/privacy and the stored notice claim what holds with each combination of settings, and nothing else", async () => {
  const combine = (sites: Variables[], change: Variables) => [
    ...sites,
    ...sites.map((site) => ({ ...site, ...change })),
  ];
  const check = (text: string, variables: Variables) => {
    const found = claims.filter(([claim]) => text.includes(claim));
    expect(found, JSON.stringify(variables)).toEqual(claims.filter(([, holds]) => holds(variables)));
  };
  for (const variables of changes.reduce(combine, [{}])) {
    check(createPageSettings(readConfig(variables)).notice.text, variables);
  }
  check(await get(named, "/privacy"), { CONTROLLER, CONTACT_EMAIL, RECIPIENTS });
  check(await get(unnamed, "/privacy"), {});
});
