// The state after a sign-up in the tab's history: a reload shows it again, and a copied URL shows the form.
import { joinedParam, undoneParam, undoParam } from "../shared/paths.ts";

/** Returns the token to undo the sign-up, "" if it has none, or undefined if the page shows no sign-up. */
export function readSignup(): string | undefined {
  const { joined } = (history.state ?? {}) as { joined?: unknown };
  return typeof joined === "string" ? joined : undefined;
}

/** The other parameters of the URL stay, because they are the campaign, and so does the state of other scripts. */
export function saveSignup(undoToken: string | undefined) {
  const url = new URL(location.href);
  // In Firefox, a link to the page's own URL would remove the state (https://github.com/whatwg/html/issues/6213).
  if (undoToken !== undefined) url.hash = "";
  for (const param of [joinedParam, undoParam, undoneParam]) url.searchParams.delete(param);
  if (url.href === location.href && undoToken === readSignup()) return;
  history.replaceState({ ...(history.state as object | null), joined: undoToken }, "", url);
}
