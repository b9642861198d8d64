// The states of the landing page, which the query of its URL names: "?joined" shows the success message.
import { formId, tokenPattern } from "./paths.ts";

/** What the last section of the landing page shows. In the state undoable, the query has the token to undo the sign-up. */
export type LandingState = "form" | "joined" | "undoable" | "undone";

export const joinedParam = "joined";
export const undoParam = "undo";
export const undoneParam = "undone";

/** The queries of the states other than form. Patterns, because URLSearchParams would parse a query of 16 KB as long as 40 requests take. */
export const stateQueries = {
  undoable: tokenPattern(undoParam),
  joined: /(?:^|&)joined(?:[=&]|$)/,
  undone: /(?:^|&)undone(?:[=&]|$)/,
};

/** Returns the path to which a form post without JavaScript is redirected. */
export function joinedPath(undoToken?: string): string {
  return `/?${joinedParam}${undoToken ? `&${undoParam}=${undoToken}` : ""}#${formId}`;
}

export const undonePath = `/?${undoneParam}#${formId}`;
