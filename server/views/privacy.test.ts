// The privacy page and what other pages say about privacy, with and without the operator's settings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import request from "supertest";
import { expect, it } from "vitest";
import { earlyAccess, privacyPage } from "../../client/shared/content.ts";
import { fields } from "../../client/shared/fields.ts";
import { explanations } from "../../client/shared/privacy-notice.ts";
import { createTestApp, noDatabase, testSettings, type TestApp } from "../../tests/support/app.ts";
import { pageText } from "../../tests/support/copy.ts";
import { readConfig } from "../config/load-config.ts";
import { createPageSettings } from "../models/page-settings.ts";
import { projectRoot } from "../config/project-root.ts";

const settings = {
  ...testSettings,
  controller: "Perennial <Inc.>, 1 Garden Way",
  contact: "privacy@perennial.example",
  recipients: "Hosting Ltd. (Ireland) runs our server.",
  links: [{ label: "Imprint", url: "https://perennial.example/imprint?a=b&c=d" }],
};

const named = await createTestApp(noDatabase, { site: { settings } });
const unnamed = await createTestApp();

const get = async ({ app }: TestApp, path: string) => (await request(app).get(path).set("Accept", "text/html")).text;
const link = 'href="mailto:privacy@perennial.example"';

it("/privacy names who keeps the list, and explains every column of an entry, and no other", async () => {
  const schema = readFileSync(join(projectRoot, "prisma/schema.prisma"), "utf8");
  const [, model = ""] = /^model WaitlistEntry \{\n(.*?)^\}/ms.exec(schema) ?? [];
  const columns = [...model.matchAll(/^ {2}(\w+) /gm)].map(([, column = ""]) => column);
  expect(explanations.flatMap((explanation) => explanation.columns).toSorted()).toEqual(columns.toSorted());
  const mailing = { ...settings, mail: true };
  const app = await createTestApp(noDatabase, { site: { settings: mailing } });
  const page = await get(app, "/privacy");
  expect(page).toContain("Perennial &lt;Inc.&gt;, 1 Garden Way");
  for (const { what, why } of explanations) expect(pageText(page)).toContain(`${what} ${why}`);
  expect(pageText(await get(app, "/"))).toContain(earlyAccess.leaveByMail);
  expect(pageText(await get(unnamed, "/"))).toContain(earlyAccess.leaveByButton);
  for (const { noun } of fields) expect(termOf("name").toLowerCase()).toContain(noun.toLowerCase());
});

it("/privacy and the stored notice first say that a visit alone leaves nothing about the visitor", async () => {
  const { text } = createPageSettings(readConfig({ CONTROLLER: settings.controller })).notice;
  for (const notice of [text.replaceAll(/\n+/g, " "), pageText(await get(named, "/privacy"))]) {
    expect(notice).toContain(`${privacyPage.heading} A visit alone leaves nothing about you`);
  }
});

it("both pages name the contact, also after a failed post, and the legal links, and promise no answer without a contact", async () => {
  for (const path of ["/", "/privacy"]) {
    const page = await get(named, path);
    expect(page, path).toContain(link);
    expect(page, path).toContain('<a href="https://perennial.example/imprint?a=b&amp;c=d">Imprint</a>');
    const other = await get(unnamed, path);
    expect(other, path).not.toContain("mailto:");
    const offers = [earlyAccess.deletion, privacyPage.withdrawalByMessage, privacyPage.rightsContact];
    for (const words of offers) expect(pageText(other), path).not.toContain(words);
    expect(other, path).toContain('href="/privacy"');
  }
  const failed = await request(named.app).post("/api/earlyaccess").type("form").set("Accept", "text/html").send("a=b");
  expect([failed.status, failed.text]).toEqual([422, expect.stringContaining(link)]);
});

type Variables = Record<string, string>;

const termOf = (column: string) => explanations.find(({ columns }) => columns.includes(column))?.what as string;
const { retention, unconfirmed, ...copy } = privacyPage;

type Claim = [text: string, holds: (variables: Variables) => unknown];
/** Each part of the notice, and whether it holds for a site with the variables. */
const claims: Claim[] = [
  [settings.controller, ({ CONTROLLER }) => CONTROLLER],
  ...explanations.map(({ what }): Claim => [what, ({ MAIL_FROM }) => MAIL_FROM || what !== termOf("mailed_at")]),
  [copy.visitHeading, () => true],
  [copy.visit, () => true],
  [copy.basis, () => true],
  [copy.recipients, ({ RECIPIENTS }) => !RECIPIENTS],
  [settings.recipients, ({ RECIPIENTS }) => RECIPIENTS],
  [retention(24), ({ RETENTION_MONTHS }) => RETENTION_MONTHS],
  [retention(0), ({ RETENTION_MONTHS }) => !RETENTION_MONTHS],
  [unconfirmed(14), ({ UNCONFIRMED_DAYS }) => UNCONFIRMED_DAYS === "14"],
  [unconfirmed(7), ({ UNCONFIRMED_DAYS }) => UNCONFIRMED_DAYS === "7"],
  [copy.withdrawal, () => true],
  [copy.withdrawalByLink, ({ MAIL_FROM }) => MAIL_FROM],
  [copy.withdrawalByButton, ({ MAIL_FROM }) => !MAIL_FROM],
  [copy.withdrawalByMessage, ({ CONTACT_EMAIL }) => CONTACT_EMAIL],
  [copy.erasures, () => true],
  [copy.objection, () => true],
  [copy.rights, () => true],
  [copy.rightsContact, ({ CONTACT_EMAIL }) => CONTACT_EMAIL],
];

const { controller: CONTROLLER, contact: CONTACT_EMAIL, recipients: RECIPIENTS } = settings;
const mail = { MAIL_FROM: "hello@perennial.example", PUBLIC_URL: "https://perennial.example" };
const changes = [
  { CONTROLLER },
  { CONTACT_EMAIL },
  { RECIPIENTS },
  { RETENTION_MONTHS: "24" },
  mail,
  { ...mail, UNCONFIRMED_DAYS: "14" },
  { ...mail, UNCONFIRMED_DAYS: "7" },
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
  check(pageText(await get(named, "/privacy")), { CONTROLLER, CONTACT_EMAIL, RECIPIENTS });
  check(pageText(await get(unnamed, "/privacy")), {});
});
