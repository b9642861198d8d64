// The target in a request's first line (RFC 9112, section 3.2).
import { unknownAddress } from "../../client/addresses.ts";

/** Scheme, host and port. Not URL, which is slow for an international host. */
const authority = /^https?:\/\/(?:[\w.-]+|\[[\da-f:.]+\])(?::\d+)?(?=[/?]|$)/i;

/**
 * Returns the path and query of a target, also if it is an absolute URL; for an invalid target the path of an unknown page.
 * With a "#" or white space, Express would parse the target as an absolute URL, and answer without the site's headers if
 * it cannot.
 */
export function toPath(target: string): string {
  if (/[\s#]/.test(target)) return unknownAddress;
  if (target.startsWith("/")) return target;
  const rest = target.replace(authority, "");
  return rest.startsWith("/") ? rest : `/${rest}`;
}
