// The check of doctor that asks the running site whether it stores sign-ups: on this machine or in its network, and at PUBLIC_URL.
import dns from "node:dns";
import type { Config } from "../../config/settings.ts";
import { errorFields } from "../../errors.ts";
import { ok, problem, type Finding } from "./finding.ts";

/** In milliseconds. */
const answerMs = 5_000;
const hangs = "TIMEOUT";

/** The status of /readyz, or the code of what failed. */
type Answer = number | string;

export async function examineSite({ PORT, PUBLIC_URL }: Config): Promise<Finding[]> {
  const isInNetwork = await canResolve("site"); // The service of Docker Compose.
  const origin = isInNetwork ? "http://site:3000" : `http://localhost:${PORT}`;
  const [inside, outside] = await Promise.all([
    ask(origin),
    PUBLIC_URL?.startsWith("https:") ? ask(PUBLIC_URL) : undefined,
  ]);
  const isReached = typeof inside === "number" || inside === hangs;
  // A host runs a command on another machine than the site.
  const isElsewhere = !isInNetwork && !isReached && outside === 200;
  const isReady = inside === 200 || isElsewhere;
  const state = isElsewhere ? "not on this machine" : `${origin}/readyz ${describe(inside)}`;
  const site = isReady ? ok("Site", state) : problem("Site", `${state}. See docs/incident.md.`);
  return outside === undefined ? [site] : [site, judgePublicUrl(outside, isReady)];
}

/** Another answer may have no fault behind it: a router may not lead back to its own address, and a CDN may challenge programs. */
function judgePublicUrl(answer: Answer, isReady: boolean): Finding {
  const what = "PUBLIC_URL";
  if (answer === 200) return ok(what, "/readyz answers 200");
  if (answer === "CERT_HAS_EXPIRED") {
    return problem(what, "the certificate has expired: renew it. For the profile https: docker compose logs https");
  }
  const judge = isReady ? ok : problem;
  return judge(what, `from this machine, /readyz ${describe(answer)}; try it from outside`);
}

const describe = (answer: Answer) => (typeof answer === "number" ? `answers ${answer}` : `does not answer (${answer})`);

const canResolve = (name: string) =>
  dns.promises.lookup(name).then(
    () => true,
    () => false,
  );

async function ask(origin: string): Promise<Answer> {
  try {
    const signal = AbortSignal.timeout(answerMs);
    const { status } = await fetch(`${origin}/readyz`, { method: "HEAD", redirect: "manual", signal });
    return status;
  } catch (error) {
    const { name, cause } = error as Error;
    return name === "TimeoutError" ? hangs : (errorFields(cause ?? error).code ?? "no connection");
  }
}
