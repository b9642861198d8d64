// waitlist stats: tables for a terminal, and the HTML report.
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import axe from "axe-core";
import { HtmlValidate } from "html-validate";
import { beforeAll, expect, it } from "vitest";
import { reportStyles } from "../../server/commands/waitlist/stats-report-styles.ts";
import { projectRoot } from "../../server/project-root.ts";
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

/** Returns the lines of the output, with "|" between cells. */
async function lines(...options: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await waitlist(["stats", ...options]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").map((line) => line.trim().replaceAll(/ {2,}/g, "|"));
}

const since = ["--since", "2026-01-01", "--until", "2026-01-31"];
const shownHostile = '?[31m<script>alert("x")</scri…';

async function withViews(use: () => Promise<void>): Promise<void> {
  await database.query(
    `INSERT INTO earlyaccess_views (day, source, views) VALUES ('2026-01-02', 'direct', 100),
     ('2026-01-02', 'news', 1), ('2026-01-02', $1, 4), ('2026-01-03', 'unseen.example', 1000)`,
    [hostile],
  );
  try {
    await use();
  } finally {
    await database.query("TRUNCATE earlyaccess_views");
  }
}

it("counts sign-ups by day and source, without views if none were counted", async () => {
  expect(await lines(...since)).toEqual([
    "Day|Sign-ups",
    "2026-01-02|5",
    "2026-01-01|1",
    "all|6",
    "",
    "Source|Sign-ups",
    "direct|2",
    "news|2",
    `${shownHostile}|1`,
    "blog.example|1",
    "",
    "Status|Sign-ups",
    "waiting|5",
    "joined|1",
    "",
    "Not counted: 1 flagged; see --with-flagged.",
    "",
  ]);
});

it("--with-flagged counts flagged entries, and --all shows whole labels", async () => {
  const figures = await lines(...since, "--with-flagged", "--all");
  expect(figures).toContain("all|7");
  expect(figures).toContain("news|3");
  expect(figures).toContain('?[31m<script>alert("x")</script>&?|1');
  expect(figures.slice(-4)).toEqual(["Status|Sign-ups", "waiting|6", "joined|1", ""]);
});

it("--since and --until limit sign-ups and views", () =>
  withViews(async () => {
    expect(await lines("--since", "2026-01-02T04:00Z", "--until", "2026-01-02")).toContain("all|2");
    expect(await lines("--since", "2026-01-03", "--until", "2026-01-03")).toContain("all|1,000|0|0.0 %");
  }));

it("shows views and the rate of sign-ups on days with views, without imports", () =>
  withViews(async () => {
    const setImported = (imported: boolean) =>
      database.query("UPDATE earlyaccess SET imported = $1 WHERE email = 'ada6@example.com'", [imported]);
    await setImported(true);
    expect(await lines(...since)).toEqual([
      "Day|Views|Sign-ups|Rate",
      "2026-01-03|1,000|0|0.0 %",
      "2026-01-02|105|5|3.8 %",
      "2026-01-01|0|1|–",
      "all|1,105|6|0.4 %",
      "",
      "Source|Views|Sign-ups|Rate",
      "direct|100|2|1.0 %",
      "news|1|2|100.0 %", // One of them on a day without views.
      `${shownHostile}|4|1|25.0 %`,
      "blog.example|0|1|–",
      "unseen.example|1,000|0|0.0 %",
      "",
      "Status|Sign-ups",
      "waiting|5",
      "joined|1",
      "",
      "Not counted: 1 flagged; see --with-flagged.",
      "",
    ]);
    await setImported(false);
    await database.query("UPDATE earlyaccess_views SET views = 1");
    expect(await lines(...since)).toContain("2026-01-02|3|5|–"); // More sign-ups than views.
  }));

it("counts a sign-up of today in the rate before today's views are stored", async () => {
  await database.query("INSERT INTO earlyaccess_views VALUES (current_date - 1, 'direct', 4)");
  await database.query(
    "INSERT INTO earlyaccess (id, name, email, company) VALUES (gen_random_uuid(), 'Bob', 'bob@example.com', 'E')",
  );
  expect(await lines("--since", "2d")).toContain("all|4|1|25.0 %");
  await database.query("DELETE FROM earlyaccess WHERE name = 'Bob'; TRUNCATE earlyaccess_views");
});

it("shows 14 days and 10 sources in 80 columns, and the sum of all others", async () => {
  await database.query(
    `INSERT INTO earlyaccess_views (day, source, views)
     SELECT date '2026-02-01' - day, 'a-rather-long-source-of-the-list-' || source, 30
     FROM generate_series(0, 59) day, generate_series(1, 40) source`,
  );
  try {
    const { stdout } = await waitlist(["stats"]);
    expect(Math.max(...stdout.split("\n").map((line) => Array.from(line).length))).toBeLessThanOrEqual(80);
    const shown = await lines();
    expect(shown[1]).toBe("2026-02-01|1,200|0|0.0 %");
    expect(shown[15]).toBe("46 earlier days|55,200|6|0.0 %");
    expect(shown).toContainEqual(expect.stringMatching(/^34 others\|/));
    expect((await lines("--all")).length).toBeGreaterThan(100);
  } finally {
    await database.query("TRUNCATE earlyaccess_views");
  }
});

it("says so if there is nothing to count", async () => {
  expect(await lines("--until", "2020-01-01")).toEqual(["No views and no sign-ups.", ""]);
  const { code, stdout } = await waitlist(["stats", "--until", "2020-01-01", "--html", "-"]);
  expect([code, stdout.includes("No views and no sign-ups.")]).toEqual([0, true]);
});

it("writes a page that is valid and accessible in light and dark, without scripts or requests", () =>
  withViews(writePage));

async function writePage(): Promise<void> {
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
      const shown = await browser.newPage({ colorScheme, bypassCSP: true, viewport: { width: 390, height: 844 } });
      const requests: string[] = [];
      shown.on("request", (request) => requests.push(request.url()));
      shown.on("dialog", () => requests.push("a script ran"));
      await shown.goto(`file://${page}`);
      expect(requests).toEqual([`file://${page}`]);
      expect(await shown.getByRole("table").count()).toBe(3);
      expect(await shown.getByRole("img").count()).toBe(1);
      const newest = await shown.locator("rect").first().boundingBox();
      expect((newest?.x ?? 0) + (newest?.width ?? 0)).toBeGreaterThan(350);
      expect(await shown.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
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
}

it("has the colours of the site", async () => {
  const colours = (css: string) =>
    css.split("prefers-color-scheme: dark").map((half) => half.match(/--[\w-]+: #\w{6}/g) ?? []);
  const tokens = colours(await readFile(join(projectRoot, "client/tokens.css"), "utf8"));
  for (const [theme, used] of colours(reportStyles).entries()) {
    expect(used.length).toBeGreaterThan(8);
    expect(tokens[theme]).toEqual(expect.arrayContaining(used));
  }
});

it("counts confirmed entries if there are any", async () => {
  const all = async (...options: string[]) => {
    const shown = await lines(...since, ...options);
    return [shown[0], shown.find((line) => line.startsWith("all"))];
  };
  // One of them is flagged.
  await database.query("UPDATE earlyaccess SET confirmed_at = now() WHERE email < 'ada4'");
  expect(await all()).toEqual(["Day|Sign-ups|Confirmed", "all|6|3"]);
  expect(await all("--with-flagged")).toEqual(["Day|Sign-ups|Confirmed", "all|7|4"]);
  await database.query("UPDATE earlyaccess SET confirmed_at = NULL");
});

it("--html - writes the page with the same figures to stdout, the chart first", () =>
  withViews(async () => {
    const { code, stdout, stderr } = await waitlist(["stats", "--html", "-"]);
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^<!doctype html>\n<html lang="en">.*<svg.*<table.*<\/html>\n$/s);
    const rows = Array.from(stdout.matchAll(/<tr>(.*?)<\/tr>/g), ([, row = ""]) =>
      row.replaceAll(/<\/t[hd]>(?!$)/g, "|").replaceAll(/<[^>]*>/g, ""),
    );
    const escaped = (line: string) =>
      line.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;");
    expect(rows).toEqual((await lines("--all")).filter((line) => line.includes("|")).map(escaped));
  }));
