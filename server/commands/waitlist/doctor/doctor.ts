// waitlist doctor: checks everything that the site needs from its environment, and says what to do.
import { loadConfig, type Config } from "../../../config.ts";
import { openDatabase } from "../../../database/open.ts";
import { OperatorError } from "../../../operator-messages.ts";
import { print } from "../../print.ts";
import type { Command } from "../command.ts";
import { examineDatabase } from "./database.ts";
import type { Finding } from "./finding.ts";
import { examineMailServer } from "./mail-server.ts";

export const doctor: Command = {
  summary: "checks configuration, database, schema, roles, clock, Redis and mail server, and says what to do",
  details: "Changes nothing, and prints no password. The exit code is 1 if there is a problem; warnings do not count.",
  positionals: [],
  options: {},
  run: async () => {
    let problems = 0;
    for await (const { verdict, what, text } of examine()) {
      if (verdict === "problem") problems++;
      print(`${verdict.padEnd(8)} ${what}: ${text.replaceAll("\n", "\n         ")}\n`);
    }
    if (problems > 0) process.exitCode = 1;
  },
};

async function* examine(): AsyncGenerator<Finding> {
  let config: Config;
  try {
    config = loadConfig();
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    yield { verdict: "problem", what: "Configuration", text: error.message };
    return;
  }
  yield { verdict: "ok", what: "Configuration", text: "every variable can be read" };
  yield* examineAddress(config);
  yield* examinePrivacy(config);
  yield* examineErasureKey(config);
  if (config.redisUrl) yield await examineRedis(config.redisUrl);
  if (config.mailFrom) yield await examineMailServer(config);
  try {
    const database = await openDatabase(config);
    try {
      if (database.directory)
        yield { verdict: "ok", what: "Database", text: `the embedded Postgres in ${database.directory}` };
      yield* examineDatabase(database, config);
    } finally {
      await database.release();
    }
  } catch (error) {
    if (!(error instanceof OperatorError)) throw error;
    yield { verdict: "problem", what: "Database", text: error.message };
  }
}

function* examineAddress({ publicUrl, trustProxy }: Config): Generator<Finding> {
  const what = "PUBLIC_URL and TRUST_PROXY";
  const warn = (text: string): Finding => ({ verdict: "warning", what, text });
  const proxies = trustProxy === 0 ? "no proxy" : `proxies: ${trustProxy}`;
  if (publicUrl === undefined) {
    const example = "for example PUBLIC_URL=https://perennial.example";
    if (trustProxy === 0) yield { verdict: "ok", what, text: `not set: http://localhost, ${proxies}` };
    else yield warn(`TRUST_PROXY=${trustProxy}, but PUBLIC_URL is not set. Set it to the visitors' origin, ${example}`);
    return;
  }
  const { protocol, hostname } = new URL(publicUrl);
  const isLocal = ["localhost", "127.0.0.1", "[::1]"].includes(hostname);
  if (protocol === "https:" && trustProxy === 0) {
    yield warn(
      `${publicUrl} is https, but TRUST_PROXY says that no proxy stands in front. The site itself speaks http only: with a proxy set TRUST_PROXY=1, or all visitors share one limit.`,
    );
  } else if (protocol === "http:" && trustProxy > 0) {
    yield warn(
      `a proxy stands in front, but ${publicUrl} is http. Where visitors use https, PUBLIC_URL must say so, or HSTS stays off.`,
    );
  } else if (protocol === "http:" && !isLocal) {
    yield warn(`${publicUrl} is http: names and addresses travel readable. Put a proxy with TLS in front.`);
  } else yield { verdict: "ok", what, text: `${publicUrl}, ${proxies}` };
}

/** A site that visitors reach by https is public, and the law asks most operators to say who they are. */
function* examinePrivacy({ publicUrl, controller, contactEmail }: Config): Generator<Finding> {
  if (!publicUrl?.startsWith("https:")) return;
  const missing = [!controller && "CONTROLLER", !contactEmail && "CONTACT_EMAIL"].filter(Boolean).join(" and ");
  const what = "Privacy page";
  if (!missing) yield { verdict: "ok", what, text: "names who keeps the list, and a contact" };
  else yield { verdict: "warning", what, text: `does not say who keeps the list or how to reach them: set ${missing}` };
}

function* examineErasureKey({ publicUrl, erasureKey }: Config): Generator<Finding> {
  if (!publicUrl?.startsWith("https:") || erasureKey) return;
  const text =
    "erased entries return with a restore or an import: set ERASURE_KEY and migrate; make one with: openssl rand -hex 32";
  yield { verdict: "warning", what: "Erasures", text };
}

/** In milliseconds; the site itself waits for Redis a quarter of a second. */
const redisTimeoutMs = 3_000;

async function examineRedis(url: string): Promise<Finding> {
  const { Redis } = await import("ioredis"); // Half a megabyte that most sites do not need.
  const options = { lazyConnect: true, connectTimeout: redisTimeoutMs, commandTimeout: redisTimeoutMs };
  const redis = new Redis(url, { ...options, maxRetriesPerRequest: 0, retryStrategy: () => null });
  // Redis' own complaints begin with a word for their kind, such as WRONGPASS; the rest is not for printing.
  const describe = ({ code, message, name }: NodeJS.ErrnoException) =>
    code ?? /^[A-Z]{4,}\b/.exec(message)?.[0] ?? name;
  let reason: string | undefined;
  redis.on("error", (error) => (reason ??= describe(error)));
  try {
    await redis.connect();
    return { verdict: "ok", what: "Redis", text: `answers at ${new URL(url).host}` };
  } catch (error) {
    const why = reason ?? describe(error as Error);
    const advice = "Sign-ups have no limit per client. Start it or correct REDIS_URL.";
    return { verdict: "problem", what: "Redis", text: `${new URL(url).host} cannot be used (${why}). ${advice}` };
  } finally {
    redis.disconnect();
  }
}
