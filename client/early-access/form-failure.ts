// The React context that passes a failed form post from the server's render to the form.
import { createContext } from "react";
import type { FormFailure } from "../page-data.ts";

export const FormFailureContext = createContext<FormFailure | undefined>(undefined);
