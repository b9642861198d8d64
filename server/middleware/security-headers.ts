// The security headers of every answer, computed once: helmet costs a third of the throughput when it runs per request.
import type { IncomingMessage, ServerResponse } from "node:http";
import helmet from "helmet";

export interface SecurityPolicy {
  /** Decides HSTS and upgrade-insecure-requests, which break a site served over plain http. */
  https: boolean;
  /** Extends HSTS to every subdomain of the site's host, also to those that other programs serve. */
  hstsIncludeSubdomains?: boolean;
  /** CSP sources of what is inline in the pages, such as 'sha256-…'. */
  inlineStyles: string[];
  inlineScripts: string[];
}

/** What no page needs, and so nothing that gets into one may have. Chromium complains of a name that it does not know. */
const permissionsPolicy = "browsing-topics=(), camera=(), geolocation=(), microphone=(), payment=(), usb=()";

export function securityHeaders(policy: SecurityPolicy): Record<string, string> {
  const { https, hstsIncludeSubdomains = false, inlineStyles, inlineScripts } = policy;
  const applyHelmet = helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: {
        defaultSrc: ["'none'"],
        scriptSrc: ["'self'", ...inlineScripts],
        styleSrc: ["'self'", ...inlineStyles],
        imgSrc: ["'self'"],
        fontSrc: ["'self'"],
        connectSrc: ["'self'"],
        manifestSrc: ["'self'"],
        formAction: ["'self'"],
        baseUri: ["'none'"],
        frameAncestors: ["'none'"],
        // No DOM API turns text into markup or script. Vite's client and its error overlay need none either.
        requireTrustedTypesFor: ["'script'"],
        trustedTypes: ["'none'"],
        ...(https ? { upgradeInsecureRequests: [] } : {}),
      },
    },
    strictTransportSecurity: https ? { maxAge: 31_536_000, includeSubDomains: hstsIncludeSubdomains } : false,
    // Not no-referrer: it makes browsers send "Origin: null" with the plain form post, which must name our origin.
    referrerPolicy: { policy: "same-origin" },
    xFrameOptions: { action: "deny" },
  });
  // The one that helmet does not have.
  const headers: Record<string, string> = { "Permissions-Policy": permissionsPolicy };
  const recorder = {
    setHeader: (name: string, value: string) => (headers[name] = value),
    removeHeader: () => undefined,
  };
  applyHelmet({} as IncomingMessage, recorder as unknown as ServerResponse, () => undefined);
  return headers;
}
