// waitlist stats: its funnel, tables and bars.
import { afterEach, expect, it, onTestFinished } from "vitest";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, waitlist } = await createWaitlistFixture();

const hostile = '\u001B[31m<script>alert("x")</script>&\u202E';
const shownHostile = '?[31m<script>alert("x")</scri…';
const since = ["--since", "2026-01-01", "--until", "2026-01-31"];

await database.query(
  `INSERT INTO earlyaccess (id, name, email, company, created_at, utm_source, referrer_host, suspected_spam, status)
   SELECT gen_random_uuid(), 'Ada', 'ada' || i || '@example.com', 'E', '2026-01-01T23:30:00Z'::timestamptz + i * interval '1 hour',
          CASE WHEN i = 1 THEN $1 WHEN i < 4 THEN 'news' END, CASE WHEN i < 5 THEN 'blog.example' END, i = 2,
          CASE WHEN i = 6 THEN 'joined' ELSE 'waiting' END::earlyaccess_status
   FROM generate_series(0, 6) i`,
  [hostile],
);

const reset =
  "TRUNCATE earlyaccess_views; UPDATE earlyaccess SET confirmed_at = NULL, invitation = NULL, imported = false; " +
  "UPDATE earlyaccess SET status = 'waiting' WHERE status = 'invited'";
afterEach(() => database.query(reset));

const addViews = () =>
  database.query(
    `INSERT INTO earlyaccess_views (day, source, views) VALUES ('2026-01-02', 'direct', 100),
     ('2026-01-02', 'news', 1), ('2026-01-02', 'blog.example', 4), ('2026-01-03', 'unseen.example', 1000)`,
  );

const bar = /█+$/;

/** Returns the lines of the output without bars, with "|" between cells. */
async function lines(...options: string[]): Promise<string[]> {
  const { code, stdout, stderr } = await waitlist(["stats", ...options]);
  expect([code, stderr]).toEqual([0, ""]);
  return stdout.split("\n").map((line) => line.replace(bar, "").trim().replaceAll(/ {2,}/g, "|"));
}

/** Returns the tables in one line each. */
const tables = async (...options: string[]) => (await lines(...since, ...options)).join(" ").trim().split(/ {2,}/);

it("stats counts sign-ups by day, source and status, confirmed ones if there are any, and flagged ones only on request", async () => {
  const days = (second: number, all: number) => `Day|Sign-ups 2026-01-02|${second} 2026-01-01|1 all|${all}`;
  expect((await tables()).slice(1)).toEqual([
    days(5, 6),
    `Source|Sign-ups direct|2 news|2 ${shownHostile}|1 blog.example|1`,
    "Status|Sign-ups waiting|5 joined|1",
    "Not counted: 1 flagged; see --with-flagged.",
  ]);
  expect((await tables("--with-flagged")).slice(1)).toEqual([
    days(6, 7),
    `Source|Sign-ups news|3 direct|2 ${shownHostile}|1 blog.example|1`,
    "Status|Sign-ups waiting|6 joined|1",
  ]);
  await database.query("UPDATE earlyaccess SET confirmed_at = now() WHERE email < 'ada4'");
  expect((await tables()).slice(1, 4)).toEqual([
    "Day|Sign-ups|Confirmed 2026-01-02|5|2 2026-01-01|1|1 all|6|3",
    `Source|Sign-ups|Confirmed direct|2|0 news|2|2 ${shownHostile}|1|1 blog.example|1|0`,
    "Status|Sign-ups|Confirmed waiting|5|3 joined|1|0",
  ]);
  expect(await lines("--until", "2020-01-01")).toEqual(["No views and no sign-ups.", ""]);
});

it("stats shows views and the rate of sign-ups on days with views", async () => {
  await addViews();
  expect((await lines(...since)).slice(8, 19)).toEqual([
    "Day|Views|Sign-ups|Rate",
    "2026-01-03|1,000|0|0.0 %",
    "2026-01-02|105|5|4.8 %",
    "2026-01-01|0|1|–",
    "all|1,105|6|0.5 %",
    "",
    "Source|Views|Sign-ups|Rate",
    "direct|100|2|2.0 %",
    "news|1|2|100.0 %", // One of them on a day without views.
    "blog.example|4|1|25.0 %",
    `${shownHostile}|0|1|–`,
  ]);
  expect(await tables("--since", "2026-01-03", "--until", "2026-01-03")).toEqual([
    expect.stringMatching(/^Funnel Views\|1,000 Sign-ups\|0 Invited\|0 Joined\|0 Without/),
    "Day|Views|Sign-ups|Rate 2026-01-03|1,000|0|0.0 % all|1,000|0|0.0 %",
    "Source|Views|Sign-ups|Rate unseen.example|1,000|0|0.0 %",
    "Status|Sign-ups",
  ]);
  await database.query("UPDATE earlyaccess SET imported = true WHERE email = 'ada6@example.com'");
  expect(await lines(...since)).toContain("2026-01-02|105|5|3.8 %");
  await database.query("UPDATE earlyaccess_views SET views = 1");
  expect(await lines(...since)).toContain("2026-01-02|3|5|–"); // More sign-ups than views.
});

it("a sign-up of today counts before the first view of today is stored", async () => {
  await addViews();
  const move = (to: string) =>
    database.query(`UPDATE earlyaccess SET created_at = ${to} WHERE email = 'ada6@example.com'`);
  await move("now()");
  onTestFinished(async () => {
    await move("'2026-01-02T05:30Z'");
  });
  expect(await lines("--since", "2026-01-01")).toContain("all|1,105|6|0.5 %");
});

it("stats begins with the funnel of unflagged sign-ups that were not imported, and leaves out steps without figures", async () => {
  const note = ["Without flagged, imported and deleted entries", "(people who left, were erased or never confirmed)."];
  const funnel = async (env = {}) => {
    // Flagged entries count in the other tables only.
    const { stdout } = await waitlist(["stats", ...since, "--with-flagged"], env);
    return stdout.replaceAll(/ {2,}/g, "|").split("\n\n", 1)[0]?.split("\n");
  };
  // One has joined without an invitation.
  const none = ["Funnel", "Sign-ups|6", "Invited|1|16.7 % of the sign-ups", "Joined|1|100.0 % of the invited", ...note];
  expect(await funnel()).toEqual(none);
  const mails = { MAIL_FROM: "a@example.com", PUBLIC_URL: "https://a.example" };
  expect(await funnel(mails)).toEqual(none.toSpliced(2, 0, "Confirmed|0|0.0 % of the sign-ups"));
  await addViews();
  await database.query(
    `UPDATE earlyaccess SET confirmed_at = now() WHERE email > 'ada3' OR suspected_spam;
     UPDATE earlyaccess SET invitation = 'first' WHERE email > 'ada3' OR suspected_spam; -- One waits again.
     UPDATE earlyaccess SET status = 'invited' WHERE email LIKE 'ada4%'; -- In Studio.
     UPDATE earlyaccess SET imported = true WHERE email < 'ada1' OR email LIKE 'ada5%'`,
  );
  expect(await funnel()).toEqual([
    "Funnel",
    "Views|1,105",
    "Sign-ups|4",
    "Confirmed|3|75.0 % of the sign-ups",
    "Invited|3|75.0 % of the sign-ups",
    "Joined|1|33.3 % of the invited",
    ...note,
  ]);
});

it("stats shows 14 days and 10 sources in 80 columns, with bars for sign-ups, and the sum of all others", async () => {
  const drawn = (await waitlist(["stats", ...since])).stdout.split("\n").filter((line) => bar.test(line));
  // 37 columns are left beside the longest label.
  const [full, half, fifth] = [37, 19, 8].map((length) => "█".repeat(length));
  const bars = [full, fifth, full, full, half, half]; // Two days, then four sources.
  expect(drawn.map((line) => bar.exec(line)?.[0])).toEqual(bars);
  expect(Array.from(drawn[0] ?? "")).toHaveLength(80);
  await database.query(
    `INSERT INTO earlyaccess_views (day, source, views)
     SELECT date '2026-02-01' - day, 'a-rather-long-source-of-the-list-' || source, 30
     FROM generate_series(0, 59) day, generate_series(1, 40) source
     UNION ALL SELECT date '2026-02-01', 'short-source-' || i, 1 FROM generate_series(1, 1000) i`,
  );
  const { stdout } = await waitlist(["stats"]);
  expect(Math.max(...stdout.split("\n").map((line) => Array.from(line).length))).toBeLessThanOrEqual(80);
  expect(stdout).not.toMatch(/^all .*█/m);
  const shown = await lines();
  expect(shown[9]).toBe("2026-02-01|2,200|0|0.0 %");
  expect(shown.slice(22, 24)).toEqual(["2026-01-19|1,200|0|0.0 %", "all|73,000|6|0.0 %"]);
  expect(shown).toContain("1,034 others|62,200|0|0.0 %");
  expect(await lines("--all")).toEqual(expect.arrayContaining(["2025-12-05|1,200|0|0.0 %", "44 others|44|0|0.0 %"]));
});
