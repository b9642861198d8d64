// The states of the landing page, which the query of its URL names: "?joined" shows the success message.
import { formId } from "./paths.ts";

/** What the last section of the landing page shows. In the state undoable, the query has the token to undo the sign-up. */
export type LandingState = "form" | "joined" | "undoable" | "undone";

export const joinedParam = "joined";
export const undoParam = "undo";
export const undoneParam = "undone";

/** Returns the path to which a form post without JavaScript is redirected. */
export function joinedPath(undoToken?: string): string {
  return `/?${joinedParam}${undoToken ? `&${undoParam}=${undoToken}` : ""}#${formId}`;
}

export const undonePath = `/?${undoneParam}#${formId}`;
