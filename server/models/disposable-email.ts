// The domains of disposable addresses.
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";

const domains = disposableEmailBlocklistSet();

/** @param email in lower case. Returns true for a listed domain and its subdomains. */
export function isDisposable(email: string): boolean {
  const labels = email.slice(email.lastIndexOf("@") + 1).split(".");
  return labels.some((_, i) => domains.has(labels.slice(i).join(".")));
}
