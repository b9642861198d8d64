// URL paths and query parameters that the client and the server share.

export const signupPath = "/api/earlyaccess";

/** Counts a view of the landing page, if the server asks for it. */
export const viewPath = "/api/view";

/** The id of the form's section, which links and responses to form posts lead to. */
export const formId = "early-access";

export const privacyPath = "/privacy";

/**
 * The pages of the two links in the confirmation mail; the query has the token. The page has one button, whose POST to the same
 * path changes data: mail scanners open links.
 */
export const confirmPath = "/confirm";
export const leavePath = "/leave";
export const tokenParam = "token";

/** The paths under which the results of these links are rendered. */
export const confirmedPath = `${confirmPath}?confirmed`;
export const expiredPath = `${confirmPath}?expired`;
export const leftPath = `${leavePath}?left`;

/** Returns the token in a query parameter, or undefined. */
export function readToken(query: string, name: string): string | undefined {
  return new RegExp(`(?:^|&)${name}=([\\w-]{22})(?:&|$)`).exec(query)?.[1];
}

/** The paths under which the 404 page and the page for a fault of the server are rendered. */
export const unknownPath = "/404";
export const errorPath = "/500";

/** The query parameters of the landing page: with the success message, with the token to undo the sign-up, and after that. */
export const joinedParam = "joined";
export const undoParam = "undo";
export const undoneParam = "undone";

/** What the landing page shows in its last section. In the state undoable, its query has the token to undo the sign-up. */
export type LandingState = "form" | "joined" | "undoable" | "undone";

/** Returns the state in the query of a request for the landing page. Other parameters have no effect. */
export function landingState(query: string): LandingState {
  // Not URLSearchParams: parsing a query of 16 KB costs as much as 40 requests.
  if (/(?:^|&)joined(?:[=&]|$)/.test(query)) return readToken(query, undoParam) ? "undoable" : "joined";
  return /(?:^|&)undone(?:[=&]|$)/.test(query) ? "undone" : "form";
}

/** Returns the path under which the landing page is rendered in a state. */
export function landingPath(state: LandingState): string {
  return state === "form" ? "/" : `/?${state}`;
}

/** Returns the path of the landing page with the success message, to which a form post without JavaScript is redirected. */
export function joinedPath(undoToken?: string): string {
  return `/?${joinedParam}${undoToken ? `&${undoParam}=${undoToken}` : ""}#${formId}`;
}

/** Returns whether the text is valid percent-encoding of UTF-8. */
export function isDecodable(text: string): boolean {
  try {
    return decodeURIComponent(text) !== undefined; // The bundler would remove a call whose result is not used.
  } catch {
    return false;
  }
}
