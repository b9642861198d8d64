// The address that an operator types, as the list may hold it.
import { normaliseAddress } from "../../models/waitlist-entry.ts";

/** Returns the address as a sign-up stores it and as Studio may store it, which accepts addresses that a sign-up refuses. */
export function spellings(address: string): string[] {
  return [normaliseAddress(address) ?? "", address.trim().normalize("NFC").toLowerCase()];
}
