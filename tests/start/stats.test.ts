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

/** Returns the lines of the output, with "|" between cells. */
async function lines(...options: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await waitlist(["stats", ...options]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").map((line) => line.trim().replaceAll(/ {2,}/g, "|"));
}

const since = ["--since", "2026-01-01", "--until", "2026-01-31"];
const shownHostile = '?[31m<script>alert("x…';

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
    "Day|Sign-ups|Invited",
    "2026-01-02|5|1",
    "2026-01-01|1|0",
    "all|6|1",
    "",
    "Source|Sign-ups|Invited",
    "direct|2|1",
    "news|2|0",
    `${shownHostile}|1|0`,
    "blog.example|1|0",
    "",
    "Not counted: 1 flagged; see --with-flagged.",
    "",
  ]);
});

it("--with-flagged counts flagged entries, and --all shows whole labels and the status", async () => {
  const figures = await lines(...since, "--with-flagged", "--all");
  expect(figures).toContain("all|7|1|1");
  expect(figures).toContain("news|3|1|0");
  expect(figures).toContain('?[31m<script>alert("x")</script>&?|1|0|0');
  expect(figures.slice(-2)).toEqual(["Status: 6 waiting, 1 joined.", ""]);
});

it("--since and --until limit sign-ups and views", () =>
  withViews(async () => {
    expect(await lines("--since", "2026-01-02T04:00Z", "--until", "2026-01-02")).toContain("all|2|1");
    expect(await lines("--since", "2026-01-03", "--until", "2026-01-03")).toContain("all|1,000|0|0|0.0 %|0.0–0.4");
  }));

it("shows views and the rate of sign-ups on days with views, without imports", () =>
  withViews(async () => {
    const setImported = (imported: boolean) =>
      database.query("UPDATE earlyaccess SET imported = $1 WHERE email = 'ada6@example.com'", [imported]);
    await setImported(true);
    expect(await lines(...since)).toEqual([
      "Day|Views|Sign-ups|Invited|Rate|95 % CI",
      "2026-01-03|1,000|0|0|0.0 %|0.0–0.4",
      "2026-01-02|105|5|1|3.8 %|1.5–9.4",
      "2026-01-01|0|1|0|–|–",
      "all|1,105|6|1|0.4 %|0.1–0.9",
      "",
      "Source|Views|Sign-ups|Invited|Rate|95 % CI",
      "direct|100|2|1|1.0 %|0.2–5.4",
      "news|1|2|0|100.0 %|20.7–100.0",
      `${shownHostile}|4|1|0|25.0 %|4.6–69.9`,
      "blog.example|0|1|0|–|–",
      "unseen.example|1,000|0|0|0.0 %|0.0–0.4",
      "",
      "Not counted: 1 flagged; see --with-flagged.",
      "",
    ]);
    await setImported(false);
  }));

it("shows yesterday, 7 and 30 days with their growth, on one screen of 80 columns", async () => {
  await database.query(
    `INSERT INTO earlyaccess_views (day, source, views)
     SELECT (now() AT TIME ZONE 'UTC')::date - day, 'a-rather-long-source-' || source, CASE WHEN day < 8 THEN 30 ELSE 10 END
     FROM generate_series(0, 59) day, generate_series(1, 40) source`,
  );
  try {
    const { stdout } = await waitlist(["stats"]);
    const shown = stdout.split("\n");
    expect(shown.length).toBeLessThanOrEqual(26);
    expect(Math.max(...shown.map((line) => Array.from(line).length))).toBeLessThanOrEqual(80);
    const all = await lines();
    expect(all.slice(0, 5)).toEqual([
      "Views|Growth|Sign-ups|Growth|Rate|95 % CI",
      "yesterday|1,200|0 %|0|–|0.0 %|0.0–0.3",
      "last 7 days|8,400|+200 %|0|–|0.0 %|0.0–0.0",
      // Views were counted on 29 of the 30 days before.
      "last 30 days|17,600|–|0|–|0.0 %|0.0–0.0",
      "",
    ]);
    expect(all).toContainEqual(expect.stringMatching(/^55 earlier days\|/));
    expect(all).toContainEqual(expect.stringMatching(/^39 others\|/));
    expect((await lines("--all")).length).toBeGreaterThan(100);
    await database.query(
      "INSERT INTO earlyaccess_views (day, source, views) SELECT (now() AT TIME ZONE 'UTC')::date - 60, 'direct', 100",
    );
    expect((await lines())[3]).toBe("last 30 days|17,600|+50 %|0|–|0.0 %|0.0–0.0");
  } finally {
    await database.query("TRUNCATE earlyaccess_views");
  }
});

it("says so if there is nothing to count", async () => {
  expect(await lines("--until", "2020-01-01")).toEqual(["No sign-ups.", ""]);
  const { code, stdout } = await waitlist(["stats", "--until", "2020-01-01", "--html", "-"]);
  expect([code, stdout.includes("0 sign-ups.")]).toEqual([0, true]);
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
}

it("counts confirmed entries once a mail was sent", async () => {
  await database.query("UPDATE earlyaccess SET mailed_at = now() WHERE email = 'ada0@example.com'");
  const all = async (...options: string[]) => {
    const shown = await lines(...since, ...options);
    return [shown[0], shown.find((line) => line.startsWith("all"))];
  };
  try {
    expect(await all()).toEqual(["Day|Sign-ups|Confirmed|Invited", "all|6|0|1"]);
    // One of them is flagged.
    await database.query("UPDATE earlyaccess SET confirmed_at = now() WHERE email < 'ada4'");
    expect(await all()).toEqual(["Day|Sign-ups|Confirmed|Invited", "all|6|3|1"]);
    expect(await all("--with-flagged")).toEqual(["Day|Sign-ups|Confirmed|Flagged|Invited", "all|7|4|1|1"]);
    const { stdout } = await waitlist(["stats", "--html", "-"]);
    expect(stdout).toContain(
      '<th scope="col">Sign-ups</th><th scope="col">Confirmed</th><th scope="col">Invited</th></tr>',
    );
    expect(stdout).toContain("<bdi>2026-01-02</bdi></th><td>5</td><td>2</td><td>1</td></tr>");
  } finally {
    await database.query("UPDATE earlyaccess SET mailed_at = NULL, confirmed_at = NULL");
  }
});

it("--html - writes the page to stdout, the chart first", async () => {
  const { code, stdout, stderr } = await waitlist(["stats", "--html", "-"]);
  expect([code, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^<!doctype html>\n<html lang="en">.*<svg.*<table.*<\/html>\n$/s);
  expect(stdout).not.toMatch(/Confirmed|Views/);
  await withViews(async () => {
    const page = (await waitlist(["stats", "--html", "-"])).stdout;
    expect(page).toContain("1,105 views, 6 sign-ups (5 waiting, 1 joined).");
    expect(page).toContain("<bdi>direct</bdi></th><td>100</td><td>2</td><td>1</td><td>2.0 %</td><td>0.6–7.0</td></tr>");
  });
});
