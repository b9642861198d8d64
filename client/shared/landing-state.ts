// The names of the pages and of their states, and the failure of a form post.
import { createContext, type ReactNode } from "react";
import type { linkPages } from "./content.ts";
import type { FieldName } from "./fields.ts";
import type { PagePath } from "./paths.ts";

/** What the last section of the landing page shows. */
export type LandingState = "form" | "joined" | "undoable" | "undone";

/** A state of a page that its query names, or the result of a POST. */
export type StateName = Exclude<LandingState, "form"> | Exclude<keyof typeof linkPages, "dead">;

/** "failed" is the page of an error. */
export type PageId = PagePath | StateName | "failed";

/** The page that the server renders. */
export const PageContext = createContext<PageId>("/");

export function isKeyOf<T extends object>(object: T, key: PropertyKey): key is keyof T {
  return Object.hasOwn(object, key);
}

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
