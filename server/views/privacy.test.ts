// The privacy page and what other pages say about privacy, with and without the operator's settings.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import request from "supertest";
import { expect, it } from "vitest";
import { explanations } from "../../client/shared/explained-columns.ts";
import type { PageSettings } from "../../client/shared/site-settings.ts";
import { createTestApp, noDatabase, testSettings, type TestApp } from "../../tests/support/app.ts";
import { projectRoot } from "../project-root.ts";

const settings = {
  ...testSettings(),
  controller: "Perennial <Inc.>, 1 Garden Way",
  contact: "privacy@perennial.example",
  links: [{ label: "Imprint", url: "https://perennial.example/imprint?a=b&c=d" }],
};

const named = await createTestApp(noDatabase, { site: { settings: () => settings } });
const unnamed = await createTestApp();

const get = async ({ app }: TestApp, path: string) => (await request(app).get(path).set("Accept", "text/html")).text;
const link = 'href="mailto:privacy@perennial.example"';

it("/privacy names who keeps the list, what is kept and a contact", async () => {
  const page = await get(named, "/privacy");
  expect(page).toContain("Perennial &lt;Inc.&gt;, 1 Garden Way");
  expect(page).toMatch(/Name, email address, company(?:, [\w ]+)* and, if you give (?:it|them), job title/);
  expect(page).toContain(link);
});

it("/privacy explains every column of an entry, and no other", async () => {
  const schema = readFileSync(join(projectRoot, "prisma/schema.prisma"), "utf8");
  const [, model = ""] = /^model WaitlistEntry \{\n(.*?)^\}/ms.exec(schema) ?? [];
  const columns = [...model.matchAll(/^ {2}(\w+) /gm)].map(([, column = ""]) => column);
  expect(explanations.flatMap((explanation) => explanation.columns).toSorted()).toEqual(columns.toSorted());
  const mailing = { ...testSettings(), keepsErasures: true, mail: true };
  const app = await createTestApp(noDatabase, { site: { settings: () => mailing } });
  const page = await get(app, "/privacy");
  for (const { what, why } of explanations) {
    expect(page).toContain(what);
    expect(page).toContain(why);
  }
});

it.each(["/", "/privacy"])("%s promises no answer without a contact", async (path) => {
  const page = await get(unnamed, path);
  expect(page).not.toMatch(/mailto:|delete|reply to/i);
  expect(page).toContain('href="/privacy"');
});

it.each(["/", "/privacy"])("%s has the legal links in its footer", async (path) => {
  expect(await get(named, path)).toContain('<a href="https://perennial.example/imprint?a=b&amp;c=d">Imprint</a>');
});

it("the form's note says where to have an entry deleted, also after a failed post", async () => {
  expect(await get(named, "/")).toContain(link);
  const failed = await request(named.app).post("/api/earlyaccess").type("form").set("Accept", "text/html").send("a=b");
  expect([failed.status, failed.text]).toEqual([422, expect.stringContaining(link)]);
});

it.each<[changes: Partial<PageSettings>, text: string]>([
  [{ retentionMonths: 24 }, "We remove an entry 24 months after the sign-up"],
  [{ keepsErasures: true }, "After we remove an entry, we keep a fingerprint of its address"],
  [{ mail: true }, "The time of our confirmation mail"],
])("/privacy of a site with the settings %j says “%s”", async (changes, text) => {
  const app = await createTestApp(noDatabase, { site: { settings: () => ({ ...settings, ...changes }) } });
  expect(await get(app, "/privacy")).toContain(text);
  expect(await get(named, "/privacy")).not.toContain(text);
});

it("security.txt names the contact and expires within a year (RFC 9116)", async () => {
  const { text, type } = await request(named.app).get("/.well-known/security.txt");
  expect(type).toBe("text/plain");
  expect(text).toContain("Contact: mailto:privacy@perennial.example\n");
  const days = (Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? "") - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(300);
  expect(days).toBeLessThan(365);
  expect((await request(unnamed.app).get("/.well-known/security.txt")).status).toBe(404);
});
