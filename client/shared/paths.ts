// URL paths and query parameters that the client and the server share.

export const signupPath = "/api/earlyaccess";

/** Counts a view of the landing page. */
export const viewPath = "/api/view";

/** The id of the form's section, which links and responses to form posts lead to. */
export const formId = "early-access";

/** The id of the error summary after a failed form post, to which the form's action leads. Text browsers ignore autofocus. */
export const failureId = "form-failure";

/** "?joined" shows the success message without JavaScript. In the state undoable, the query has the token to undo the sign-up. */
export const joinedParam = "joined";
export const undoParam = "undo";
export const undoneParam = "undone";

/** Returns the path to which a form post without JavaScript is redirected. */
export function joinedPath(undoToken?: string): string {
  return `/?${joinedParam}${undoToken ? `&${undoParam}=${undoToken}` : ""}#${formId}`;
}

export const undonePath = `/?${undoneParam}#${formId}`;

export const privacyPath = "/privacy";

/**
 * The pages of the links in mails; the query has the token. The page has one button, whose POST to the same path changes data: mail
 * scanners open links.
 */
export const confirmPath = "/confirm";
export const leavePath = "/leave";
export const tokenParam = "token";

/** The path of each page; "*" is the 404 page. */
export type PagePath = "/" | typeof privacyPath | typeof confirmPath | typeof leavePath | "*";

/**
 * Returns a pattern of queries with a token in the parameter, also between characters that a mail program added or encoded, as in
 * "amp;token=3D…". A token is 32 hexadecimal digits.
 */
export function tokenPattern(param: string): RegExp {
  const added = "(?:%[\\dA-F]{2}|[^\\w&%-])+(?:3D)*";
  return new RegExp(`(?:^|&)(?:amp;)*${param}${added}([\\da-f]{32})(?![\\w-])`, "i");
}
