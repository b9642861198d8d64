// The metrics of the site and of the worker: their counts, their privacy, and the files that name them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { projectRoot } from "../../server/project-root.ts";
import { ada, signUp, startSite } from "../support/site.ts";
import { createMailFixture } from "../support/worker.ts";

const mails = createMailFixture();

async function start(env: Record<string, string> = {}) {
  const port = await freePort();
  const site = await startSite({ env: { DATABASE_URL: mails.database.webUrl, METRICS_PORT: `${port}`, ...env } });
  onTestFinished(() => void site.process.kill("SIGKILL"));
  return { ...site, metricsUrl: `http://127.0.0.1:${port}/metrics` };
}

/** Returns the samples of Prometheus' text format, by name and labels. */
async function scrape(url: string): Promise<Record<string, number>> {
  const text = await (await fetch(url)).text();
  const samples = text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm);
  return Object.fromEntries(
    Array.from(samples, ([, name, labels, value]) => [
      labels ? `${name} ${labels.replaceAll('"', "")}` : name,
      Number(value),
    ]),
  );
}

/** Returns the labels and values of a counter, without zeros. */
async function counts({ metricsUrl }: { metricsUrl: string }, name: string): Promise<Record<string, number>> {
  const samples = Object.entries(await scrape(metricsUrl));
  const own = samples.filter(([key, value]) => key.startsWith(`${name} `) && value !== 0);
  return Object.fromEntries(own.map(([key, value]) => [key.slice(name.length + 1), value]));
}

it("the metrics have a port of their own, count requests by method, route and status, time them, and count sign-ups by outcome and flag", async () => {
  const site = await start({ SIGNUP_HOURLY_CEILING: "3" });
  const script = /\/assets\/[\w-]+\.js/.exec(await (await fetch(site.url)).text())?.[0] as string;
  for (const path of [script, "/favicon.ico", "/metrics", "/healthz"]) await fetch(site.url + path);
  await fetch(`${site.url}/api/earlyaccess`, { method: "OPTIONS" });
  const changes = [{}, { email: "ADA@example.com" }, { email: "bot@example.com", message: "Buy this" }];
  for (const change of [...changes, { email: "gone@mailinator.com" }, { email: "no address" }])
    await signUp(site, { ...ada, ...change });
  for (const path of ["/confirm", "/leave"])
    await fetch(`${site.url}${path}?token=${"x".repeat(22)}`, { method: "POST" });
  await expect
    .poll(() => counts(site, "http_requests_total"))
    .toEqual({
      "method=GET,route=/,status=200": 1,
      "method=GET,route=asset,status=200": 1,
      "method=GET,route=file,status=200": 1,
      "method=GET,route=not found,status=404": 1,
      "method=GET,route=/healthz,status=200": 1,
      "method=other,route=/api/earlyaccess,status=405": 1,
      "method=POST,route=/api/earlyaccess,status=201": 4,
      "method=POST,route=/api/earlyaccess,status=422": 1,
      "method=POST,route=/confirm,status=200": 1,
      "method=POST,route=/leave,status=200": 1,
    });
  expect(await counts(site, "perennial_signups_total")).toEqual({ "outcome=joined": 3, "outcome=repeated": 1 });
  const flags = { "flag=suspected_spam": 1, "flag=disposable_email": 1, "flag=unusual_volume": 1 };
  expect(await counts(site, "perennial_signups_flagged_total")).toEqual(flags);
  expect((await fetch(site.metricsUrl, { method: "POST" })).status).toBe(404);
  // Each series starts at 0: an increase misses an event that begins a series.
  const found = Object.keys(await scrape(site.metricsUrl));
  for (const route of ["/", "/api/earlyaccess", "/confirm", "/leave"])
    expect(found).toContain(`http_requests_total method=POST,route=${route},status=503`);
  const seconds = (await counts(site, "http_request_duration_seconds_sum"))["route=/api/earlyaccess"] as number;
  expect(seconds).toBeGreaterThan(0.0005);
});

it("the metrics have no labels from the path, method or body of a request", async () => {
  const site = await start();
  const probe = async (salt: string) => {
    const secret = `unmistakable-${salt}`;
    for (const path of [`/${secret}`, `/assets/${secret}.js`, `/${secret}@example.com?${secret}`, `/api/${secret}`]) {
      for (const method of ["GET", "PURGE"])
        await fetch(site.url + path, { method, headers: { "User-Agent": secret } });
    }
    await signUp(site, { ...ada, name: secret, email: `${secret}@example.com` }, { Referer: `http://${secret}/` });
    await signUp(site, { ...ada, email: secret });
    return Object.keys(await scrape(site.metricsUrl)).filter((key) => /^(http|perennial)_/.test(key));
  };
  const known = await probe("first");
  expect(known).toContain("http_requests_total method=other,route=not found,status=404");
  expect(known.join("\n")).not.toMatch(/unmistakable|example\.com|127\.0\.0\.1|PURGE/i);
  expect(await probe("second")).toEqual(known);
});

it("the worker counts mails, and shows its jobs, the share of confirmed mails and the age of the last backup; files name only metrics", async () => {
  const port = await freePort();
  await mails.startWorker({ WORKER_METRICS_PORT: `${port}` });
  expect(await mails.signUp("ada@example.com")).toBe(201);
  await mails.mailed(1);
  mails.server.fail("recipient", "550 5.1.1 unknown");
  expect(await mails.signUp("bob@example.com")).toBe(201);
  await mails.emptied();
  await mails.database.query(
    `SELECT graphile_worker.add_job('mail', run_at => now() + interval '1 day', job_key => 'tomorrow');
     SELECT graphile_worker.add_job('unknown', run_at => now() - interval '1 hour');
     SELECT graphile_worker.add_job('unknown', job_key => 'failed');
     UPDATE graphile_worker._private_jobs SET attempts = max_attempts, created_at = now() - interval '9 hours' WHERE key = 'failed';
     INSERT INTO earlyaccess_backups (finished_at, entries) VALUES (now() - interval '3 hours', 1);
     SET earlyaccess.silent = 'on';
     INSERT INTO earlyaccess (id, name, email, company, mailed_at, confirmed_at)
     SELECT gen_random_uuid(), 'A', i || '@example.com', 'C', now() - interval '3 hours', CASE WHEN i <= 3 THEN now() END
     FROM generate_series(1, 40) i`,
  );
  const read = () => scrape(`http://127.0.0.1:${port}/metrics`);
  const hours = async (name: string) => Math.round(((await read())[name] ?? 0) / 3_600);
  const found = await read();
  expect(found).toMatchObject({
    "perennial_mails_total outcome=sent": 1,
    "perennial_mails_total outcome=refused": 1,
    perennial_failed_jobs: 1,
    perennial_mails_confirmed_ratio: 0.075,
    perennial_mails_confirmed_ratio_min: 0.1,
  });
  expect(await hours("perennial_backlog_seconds")).toBe(1);
  expect(await hours("perennial_backup_age_seconds")).toBe(3);
  // Jobs that fail are a backlog from the third on.
  const fail = (jobs: number) =>
    mails.database.query(
      `SELECT graphile_worker.add_job('unknown', job_key => 'slow' || i) FROM generate_series(1, ${jobs}) i;
       UPDATE graphile_worker._private_jobs SET attempts = 1, created_at = now() - interval '5 hours' WHERE key LIKE 'slow%'`,
    );
  await fail(2);
  expect(await hours("perennial_backlog_seconds")).toBe(1);
  await fail(3);
  expect(await hours("perennial_backlog_seconds")).toBe(5);

  // The dashboard and the alerts name only metrics that the site or the worker has.
  const site = await start();
  await signUp(site); // Counted before the scrape.
  const names = new Set(Object.keys({ ...(await scrape(site.metricsUrl)), ...found }).map((key) => key.split(" ")[0]));
  const files = ["grafana-dashboard.json", "prometheus-alerts.yml"];
  const text = files.map((name) => readFileSync(join(projectRoot, "deploy", name), "utf8")).join("\n");
  const named = text.match(/\b(?:http|perennial|nodejs|process)_[a-z\d_]+/g) ?? [];
  expect(named.length).toBeGreaterThan(20);
  expect(named.filter((name) => !names.has(name))).toEqual([]);
});
