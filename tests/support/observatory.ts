// The score of a response by the rules of the MDN HTTP Observatory.
type Headers = Record<string, string | undefined>;

/** What the Observatory requests: the page over https, and a preflight from another origin. */
interface Scan {
  status: number;
  headers: Headers;
  html: string;
  preflight: Headers;
}

/** Returns the sources of each directive of a Content-Security-Policy; none if one is repeated, which counts as unreadable. */
export function readPolicy({ "content-security-policy": header = "" }: Headers): Record<string, string[]> {
  const directives = header.split(";").map((text) => text.trim().split(/\s+/));
  const policy = Object.fromEntries(directives.map(([name = "", ...sources]) => [name.toLowerCase(), sources]));
  return header && Object.keys(policy).length === directives.length ? policy : {};
}

export function findScripts(html: string) {
  return [...html.matchAll(/<script([^>]*)>(.*?)<\/script>/gs)].map(([, attributes = "", code = ""]) => {
    const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(attributes)?.[1];
    return { src: attribute("src"), type: attribute("type"), integrity: attribute("integrity"), code };
  });
}

/** The sources that the directives allow; default-src stands in for a missing one. */
function allowed({ headers }: Scan, ...directives: string[]): string[] {
  const policy = readPolicy(headers);
  return directives.flatMap((name) => policy[name] ?? policy["default-src"] ?? ["*"]);
}

const isHostOfOthers = ({ src = "" }) => /^(https?:)?\/\//.test(src);
const isBroadOrUnsafe = (source: string) => /^(\*|(ftp|https?|data):.*|'unsafe-.*)$/i.test(source);
const isSafeReferrerPolicy = (policy = "") =>
  /^(no-referrer|same-origin|strict-origin(-when-cross-origin)?)$/.test(policy);

/**
 * The most and the fewest points of each rule, and what it takes to get the most, read strictly: nothing in between counts.
 * https://developer.mozilla.org/en-US/observatory/docs/tests_and_scoring
 */
const rules: Record<string, [most: number, fewest: number, holds: (scan: Scan) => boolean]> = {
  "content-security-policy": [
    10,
    -25,
    (scan) =>
      allowed(scan, "default-src").join() === "'none'" &&
      !Object.values(readPolicy(scan.headers)).flat().some(isBroadOrUnsafe),
  ],
  cookies: [0, -40, ({ headers }) => headers["set-cookie"] === undefined],
  "cross-origin-resource-policy": [
    10,
    -5,
    ({ headers }) => /^same-(origin|site)$/.test(headers["cross-origin-resource-policy"] ?? ""),
  ],
  "cross-origin-resource-sharing": [0, -50, ({ preflight }) => !preflight["access-control-allow-origin"]],
  // A proxy redirects from http to https; without that the site would get a B+.
  redirection: [0, -20, ({ status }) => status === 200],
  "referrer-policy": [5, -5, ({ headers }) => isSafeReferrerPolicy(headers["referrer-policy"])],
  "strict-transport-security": [
    0,
    -20,
    ({ headers }) => Number(/max-age=(\d+)/.exec(headers["strict-transport-security"] ?? "")?.[1]) >= 15_768_000,
  ],
  "subresource-integrity": [
    5,
    -50,
    ({ html }) => {
      const loaded = findScripts(html).filter(({ src }) => src !== undefined);
      return loaded.length > 0 && loaded.every((script) => script.integrity && !isHostOfOthers(script));
    },
  ],
  "x-content-type-options": [0, -5, ({ headers }) => headers["x-content-type-options"] === "nosniff"],
  "x-frame-options": [5, -20, ({ headers }) => "frame-ancestors" in readPolicy(headers)],
};

/** Points by rule, and the score: bonuses count only if the rest is worth 90. */
export function observe(scan: Scan): { points: Record<string, number>; score: number } {
  const points = Object.fromEntries(
    Object.entries(rules).map(([rule, [most, fewest, holds]]) => [rule, holds(scan) ? most : fewest]),
  );
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 100);
  const base = sum(Object.values(points).filter((number) => number < 0));
  return { points, score: base < 90 ? base : sum(Object.values(points)) };
}
