// What waitlist doctor says about the running site in production.
import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { createServer as createHttpsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { certificate, expiredCertificate, key } from "../support/mail-server.ts";
import { runBuiltWaitlist } from "../support/run.ts";
import { ready } from "../support/site.ts";
import { createWaitlistFixture } from "../support/waitlist-fixture.ts";

const { database, start } = await createWaitlistFixture();

/** Returns doctor's exit code and its lines about the site. */
async function examine(env: Record<string, string>) {
  const { code, stdout, stderr } = await runBuiltWaitlist(database, ["doctor"], {
    NODE_ENV: "production",
    NODE_EXTRA_CA_CERTS: join(projectRoot, "tests/support/localhost.crt"),
    ...env,
  });
  expect(stderr).toBe("");
  return [code, ...stdout.split("\n").filter((line) => /^\w+ +(?:Site|PUBLIC_URL): (?!it is not set)/.test(line))];
}

/** Starts a server whose /readyz has this status, and returns its port; without a status, a port without a server. */
async function serve(status: number | undefined, cert?: string): Promise<string> {
  if (status === undefined) return `${await freePort()}`;
  const server = cert ? createHttpsServer({ key, cert }) : createServer();
  server.on("request", ({ url }, res: ServerResponse) =>
    res.writeHead(url === "/readyz" ? status : 200, { Location: "/" }).end(),
  );
  onTestFinished(() => void server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  return `${(server.address() as AddressInfo).port}`;
}

it("doctor asks the site in production, and finds one that hangs", async () => {
  const site = await start({ env: { DATABASE_URL: database.webUrl, NODE_ENV: "production" } });
  await ready(site);
  const env = { PORT: new URL(site.url).port };
  const asked = `http://localhost:${env.PORT}/readyz`;
  expect(await examine(env)).toEqual([0, `ok       Site: ${asked} answers 200`]);
  site.process.kill("SIGSTOP");
  expect(await examine(env)).toEqual([1, `problem  Site: ${asked} does not answer (TIMEOUT). See docs/incident.md.`]);
});

/** As in the network of Docker Compose. */
const resolving = `import dns from "node:dns"; dns.promises.lookup = async () => ({ address: "127.0.0.1", family: 4 });`;
const inNetwork = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(resolving)}` };

type Row = [
  fault: string,
  site: number | undefined,
  proxy: [status?: number, certificate?: string],
  expected: [code: number, ofSite: RegExp, ofPublicUrl: RegExp],
  env?: Record<string, string>,
];
const isReady = /^ok .* answers 200$/;
const isRefused = /^problem .*\/readyz does not answer \(ECONNREFUSED\)\. See docs/;

it.each<Row>([
  ["none", 200, [200], [0, isReady, /^ok {7}PUBLIC_URL: \/readyz answers 200$/]],
  ["a CDN that challenges programs", 200, [403], [0, isReady, /^ok .*: from this machine, \/readyz answers 403; try/]],
  ["a redirect, which is not followed", 200, [301], [0, isReady, /^ok .* answers 301; try it from outside$/]],
  ["a router that does not lead back", 200, [], [0, isReady, /^ok .* does not answer \(ECONNREFUSED\); try/]],
  ["an expired certificate", 200, [200, expiredCertificate], [1, isReady, /^problem .* has expired: renew it\./]],
  ["a site without its database", 503, [503], [1, /^problem .* 503\. See docs/, /^problem .* 503; try/]],
  ["a site that nobody reaches", 503, [200], [1, /^problem .* answers 503\. See docs/, isReady]],
  ["a site on another machine", undefined, [200], [0, /^ok {7}Site: not on this machine$/, isReady]],
  ["no site", undefined, [502], [1, isRefused, /^problem .* answers 502; try/]],
  ["no site in the network", undefined, [200], [1, /^problem .* http:\/\/site:3000\/readyz does/, isReady], inNetwork],
])("doctor asks the site and PUBLIC_URL, and finds %s", async (_, site, proxy, expected, env) => {
  const [status, cert = certificate] = proxy;
  const found = await examine({
    PORT: await serve(site),
    PUBLIC_URL: `https://localhost:${await serve(status, cert)}`,
    ...env,
  });
  const [code, ...lines] = expected;
  expect(found).toEqual([code, ...lines.map((line) => expect.stringMatching(line) as string)]);
});

it("doctor finds no site where PUBLIC_URL is not https", async () => {
  const port = await serve(200);
  expect(await examine({ PORT: await serve(undefined), PUBLIC_URL: `http://localhost:${port}` })).toEqual([
    1,
    expect.stringMatching(/^problem {2}Site: .* \(ECONNREFUSED\)/),
  ]);
});
