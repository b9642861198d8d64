// The states of the landing page: what its last section shows, and the failure of a form post.
import { createContext, type ReactNode } from "react";
import type { FieldName } from "./fields.ts";

export type LandingState = "form" | "joined" | "undoable" | "undone";

/** The page that the server renders: the name of a state, or the path of a route. */
export const PageContext = createContext<string>("/");

/** The failure of a form post without JavaScript. Its page is never hydrated. */
export interface FormFailure {
  status: number;
  /** The sentence that says when the visitor may try again, if the server knows. */
  wait?: string | undefined;
  errors: Partial<Record<FieldName, string>>;
  /** The typed values; undefined on a page that is the same for everybody. */
  values?: Partial<Record<FieldName, string>> | undefined;
  /** The source of the sign-up, because the URL of this page lacks the campaign. */
  source?: Record<string, string | null>;
}

/** The server adds the error summary: browsers never hydrate its page, so they need not load it. */
export const FormFailureContext = createContext<(FormFailure & { summary: ReactNode }) | undefined>(undefined);
