// The security headers of every response.
import type { IncomingMessage, ServerResponse } from "node:http";
import helmet from "helmet";

interface SecurityPolicy {
  /** Decides HSTS and upgrade-insecure-requests, which break a site served over plain http. */
  https: boolean;
  /** CSP sources of inline styles and scripts, such as 'sha256-…'. */
  inline: { styles: string[]; scripts: string[] };
  allowIndexing: boolean;
}

/** Of the <style> element that sonner 2.0.8 adds empty, and then fills. After an update, the browser's console names the new hash. */
const sonnerStyle = [
  "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
  "sha256-StEaX+se6YS7pqjzrzMIA0KaX9zF/8zAhvQXZAe5epY=",
];

/** Chromium prints a warning for a name that it does not know. */
const permissionsPolicy = "camera=(), geolocation=(), microphone=(), payment=(), usb=()";

/**
 * Returns a flat list of headers, `[name, value, …]`, as `writeHead` takes it. Call it once: per request, helmet costs a third of
 * the throughput.
 */
export function securityHeaders({ https, inline, allowIndexing }: SecurityPolicy): string[] {
  const applyHelmet = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'", ...inline.scripts],
        styleSrc: ["'self'", ...inline.styles, ...sonnerStyle.map((hash) => `'${hash}'`)],
        imgSrc: ["'self'"],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        manifestSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        // No DOM API may turn text into markup or script. Vite's client and its error overlay need none either.
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: ["'none'"],
        ...(https ? { upgradeInsecureRequests: [] } : {}),
      },
    },
    // Not for subdomains, which other programs may serve without TLS.
    strictTransportSecurity: https ? { maxAge: 31_536_000, includeSubDomains: false } : false,
    // With no-referrer, browsers would send "Origin: null" with the plain form post, which must name our origin.
    referrerPolicy: { policy: "same-origin" },
    xFrameOptions: { action: "deny" },
  });
  const headers = ["Permissions-Policy", permissionsPolicy];
  if (!allowIndexing) headers.push("X-Robots-Tag", "noindex");
  const recorder = {
    setHeader: (name: string, value: string) => headers.push(name, value),
    removeHeader: () => undefined,
  };
  applyHelmet({} as IncomingMessage, recorder as unknown as ServerResponse, () => undefined);
  return headers;
}
