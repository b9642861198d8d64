// The rules of the MDN HTTP Observatory, by which a test finds the score of an answer.
type Headers = Record<string, string | undefined>;

/** What the Observatory asks for: the page over https, and whether another origin may read it. */
interface Scan {
  status: number;
  headers: Headers;
  html: string;
  preflight: Headers;
}

/** The sources of each directive of a Content-Security-Policy; none where one is repeated, which counts as unreadable. */
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

const lower = (source: string) => source.toLowerCase();
const isBroad = (source: string) => /^(\*|(ftp|https?):(\/\/\*(\.\*)?)?)$/.test(source);
const isUnsafe = (source: string) => isBroad(source) || source === "'unsafe-inline'" || source === "data:";
const isUnencrypted = (source: string) => /^(http|ftp):/.test(source);

/** The sources that one of the directives allows, where default-src stands in for one that is missing. */
function allowed({ headers }: Scan, ...directives: string[]): string[] {
  const policy = readPolicy(headers);
  return directives.flatMap((name) => policy[name] ?? policy["default-src"] ?? ["*"]).map(lower);
}

function active({ headers }: Scan): string[] {
  const { "img-src": _images, "media-src": _media, ...others } = readPolicy(headers);
  return Object.values(others).flat().map(lower);
}

function loaded({ html }: Scan) {
  return findScripts(html).filter(({ src }) => src !== undefined);
}

const goodReferrerPolicy = /^(no-referrer|same-origin|strict-origin(-when-cross-origin)?)$/;
const elsewhere = ({ src = "" }) => /^(https?:)?\/\//.test(src);
const insecurely = ({ src = "" }) => /^(http:)?\/\//.test(src);
const maxAge = ({ headers }: Scan) => Number(/max-age=(\d+)/.exec(headers["strict-transport-security"] ?? "")?.[1]);

/**
 * By https://developer.mozilla.org/en-US/observatory/docs/tests_and_scoring: the first row that holds gives a rule's points.
 * Where it forgives more than this site needs, the strictest reading stands here: any cookie, CORS header or redirection
 * counts as the worst, and every script must be ours or have its hash. Two bonuses are left out: 5 for cookies that are
 * well made, and 5 for a host on the browsers' HSTS list, which no answer tells.
 */
const rules: Record<string, [points: number, holds: (scan: Scan) => boolean][]> = {
  "content-security-policy": [
    [-25, ({ headers }) => Object.keys(readPolicy(headers)).length === 0],
    [-20, (scan) => allowed(scan, "script-src").some(isUnsafe)],
    [-20, (scan) => allowed(scan, "object-src").some(isBroad)],
    [-20, (scan) => active(scan).some(isUnencrypted)],
    [-10, (scan) => allowed(scan, "script-src", "style-src").includes("'unsafe-eval'")],
    [-10, (scan) => allowed(scan, "img-src", "media-src").some(isUnencrypted)],
    [0, (scan) => allowed(scan, "style-src").some(isUnsafe)],
    [10, (scan) => allowed(scan, "default-src").join() === "'none'"],
    [5, () => true],
  ],
  cookies: [
    [0, ({ headers }) => headers["set-cookie"] === undefined],
    [-40, () => true],
  ],
  "cross-origin-resource-policy": [
    [10, ({ headers }) => /^same-(origin|site)$/.test(headers["cross-origin-resource-policy"] ?? "")],
    [0, ({ headers }) => /^cross-origin$/.test(headers["cross-origin-resource-policy"] ?? "cross-origin")],
    [-5, () => true],
  ],
  "cross-origin-resource-sharing": [
    [0, ({ preflight }) => preflight["access-control-allow-origin"] === undefined],
    [-50, () => true],
  ],
  // From http to https the proxy redirects, which has the certificate; without that the site would get a B+.
  redirection: [
    [0, ({ status }) => status === 200],
    [-20, () => true],
  ],
  "referrer-policy": [
    [0, ({ headers }) => headers["referrer-policy"] === undefined],
    [5, ({ headers }) => goodReferrerPolicy.test(headers["referrer-policy"] ?? "")],
    [-5, () => true],
  ],
  "strict-transport-security": [
    [0, (scan) => maxAge(scan) >= 15_768_000],
    [-10, (scan) => maxAge(scan) >= 0],
    [-20, () => true],
  ],
  "subresource-integrity": [
    [-50, (scan) => loaded(scan).some((script) => insecurely(script) && !script.integrity)],
    [-20, (scan) => loaded(scan).some(insecurely)],
    [-5, (scan) => loaded(scan).some((script) => elsewhere(script) && !script.integrity)],
    [5, (scan) => loaded(scan).length > 0 && loaded(scan).every(({ integrity }) => integrity)],
    [0, () => true],
  ],
  "x-content-type-options": [
    [0, ({ headers }) => headers["x-content-type-options"] === "nosniff"],
    [-5, () => true],
  ],
  "x-frame-options": [
    [5, ({ headers }) => "frame-ancestors" in readPolicy(headers)],
    [0, ({ headers }) => /^(deny|sameorigin)$/i.test(headers["x-frame-options"] ?? "")],
    [-20, () => true],
  ],
};

/** Points by rule, and the score: bonuses count only where the rest is worth 90. */
export function observe(scan: Scan): { points: Record<string, number>; score: number } {
  const points = Object.fromEntries(
    Object.entries(rules).map(([rule, rows]) => [rule, rows.find(([, holds]) => holds(scan))?.[0] ?? 0]),
  );
  const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 100);
  const base = sum(Object.values(points).filter((number) => number < 0));
  return { points, score: base < 90 ? base : sum(Object.values(points)) };
}
