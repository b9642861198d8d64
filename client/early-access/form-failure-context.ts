// The React context that passes a failed form post from the server's render to the form.
import { createContext, type ReactNode } from "react";
import type { FormFailure } from "../shared/landing-state.ts";

/** The server adds the error summary: browsers never hydrate its page, so they need not load it. */
export const FormFailureContext = createContext<(FormFailure & { summary: ReactNode }) | undefined>(undefined);
