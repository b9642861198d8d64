// waitlist stats: tables for a terminal, and the HTML report.
import { readFile, stat } from "node:fs/promises";
import axe from "axe-core";
import { HtmlValidate } from "html-validate";
import { beforeAll, expect, it } from "vitest";
import { launchBrowser } from "../support/browser.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, file, waitlist } = createWaitlistFixture();

const hostile = '\u001B[31m<script>alert("x")</script>&\u202E';

beforeAll(async () => {
  await database.query(
    `INSERT INTO earlyaccess (id, name, email, company, created_at, utm_source, referrer_host, suspected_spam, status)
     SELECT gen_random_uuid(), 'Ada', 'ada' || i || '@example.com', 'E', '2026-01-01T23:30:00Z'::timestamptz + i * interval '1 hour',
            CASE WHEN i = 1 THEN $1 WHEN i < 4 THEN 'news' END, CASE WHEN i < 5 THEN 'blog.example' END, i = 2,
            CASE WHEN i = 6 THEN 'joined' ELSE 'waiting' END::earlyaccess_status
     FROM generate_series(0, 6) i`,
    [hostile],
  );
});

it("counts by status, day and source, without control characters of a source", async () => {
  const { code, stdout, stderr } = await waitlist(["stats"]);
  expect([code, stderr]).toEqual([0, ""]);
  const figuresOf = (text: string) =>
    text
      .split("\n")
      .map((line) => line.replaceAll("█", "").split(/ {2,}/).slice(0, 3).join("|").replace(/\|$/, "").trim());
  const unflagged = [
    "Status|sign-ups",
    "all|6",
    "waiting|5",
    "joined|1",
    "",
    "Day|sign-ups",
    "2026-01-01|1",
    "2026-01-02|5",
    "",
  ];
  const sources = [
    "Source|sign-ups",
    "direct|2",
    "news|2",
    '?[31m<script>alert("x")</script>&?|1',
    "blog.example|1",
    "",
  ];
  expect(figuresOf(stdout)).toEqual([...unflagged, ...sources, "Not counted: 1 flagged; see --with-flagged.", ""]);
  const figures = figuresOf((await waitlist(["stats", "--with-flagged"])).stdout);
  const status = "Status|sign-ups|flagged all|7|1 waiting|6|1 joined|1|0 ".split(" ");
  const day = "Day|sign-ups|flagged 2026-01-01|1|0 2026-01-02|6|1 ".split(" ");
  const hostileFigure = '?[31m<script>alert("x")</script>&?|1|0';
  const source = ["Source|sign-ups|flagged", "news|3|1", "direct|2|0", hostileFigure, "blog.example|1|0", ""];
  expect(figures).toEqual([...status, ...day, ...source]);
  expect((await waitlist(["stats", "--since", "2026-01-02T04:00Z"])).stdout).toContain("\nall             2");
});

it("writes a page that is valid and accessible in light and dark, without scripts or requests", async () => {
  const page = file("report.html");
  expect(await waitlist(["stats", "--html", page])).toEqual({ code: 0, stdout: `Wrote ${page}.\n`, stderr: "" });
  expect((await stat(page)).mode & 0o777).toBe(0o600);
  const html = await readFile(page, "utf8");
  const validator = new HtmlValidate({ extends: ["html-validate:standard"], rules: { "no-inline-style": "off" } });
  const report = await validator.validateString(html);
  expect(
    report.results.flatMap(({ messages }) => messages.map(({ ruleId, message }) => `${ruleId}: ${message}`)),
  ).toEqual([]);
  const browser = await launchBrowser();
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      const shown = await browser.newPage({ colorScheme, bypassCSP: true });
      const requests: string[] = [];
      shown.on("request", (request) => requests.push(request.url()));
      shown.on("dialog", () => requests.push("a script ran"));
      await shown.goto(`file://${page}`);
      expect(requests).toEqual([`file://${page}`]);
      expect(await shown.getByRole("table").count()).toBe(3);
      expect(await shown.getByRole("img").count()).toBe(3);
      await shown.evaluate(axe.source);
      const violations = await shown.evaluate(async () => {
        const results = await (window as unknown as { axe: typeof axe }).axe.run();
        return results.violations.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(" ")}`);
      });
      expect(violations).toEqual([]);
      await shown.close();
    }
  } finally {
    await browser.close();
  }
});

it("counts confirmed entries once a mail was sent", async () => {
  await database.query("UPDATE earlyaccess SET mailed_at = now() WHERE email = 'ada0@example.com'");
  const all = async (...options: string[]) =>
    /^Status.*\n.*\n/.exec((await waitlist(["stats", ...options])).stdout)?.[0];
  try {
    expect(await all()).toMatch(/^Status +sign-ups +confirmed\nall +6 +0 /);
    // One of them is flagged.
    await database.query("UPDATE earlyaccess SET confirmed_at = now() WHERE email < 'ada4'");
    expect(await all()).toMatch(/^Status +sign-ups +confirmed\nall +6 +3 /);
    expect(await all("--with-flagged")).toMatch(/^Status +sign-ups +confirmed +flagged\nall +7 +4 +1 /);
    const { stdout } = await waitlist(["stats", "--html", "-"]);
    expect(stdout).toContain('<th scope="col">Sign-ups</th><th scope="col">Confirmed</th></tr>');
    expect(stdout).toContain("<bdi>waiting</bdi></th><td>5</td><td>3</td></tr>");
  } finally {
    await database.query("UPDATE earlyaccess SET mailed_at = NULL, confirmed_at = NULL");
  }
});

it("--html - writes the page to stdout", async () => {
  const { code, stdout, stderr } = await waitlist(["stats", "--html", "-"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^<!doctype html>\n<html lang="en">.*<\/html>\n$/s);
  expect(stdout).not.toContain("Confirmed");
});
