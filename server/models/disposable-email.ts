// Knows the providers of throw-away addresses.
import { disposableEmailBlocklistSet } from "disposable-email-domains-js";

const domains = disposableEmailBlocklistSet();

/** @param email in lower case. True for a listed domain and whatever is below one. */
export function isDisposable(email: string): boolean {
  const labels = email.slice(email.lastIndexOf("@") + 1).split(".");
  return labels.some((_, i) => domains.has(labels.slice(i).join(".")));
}
