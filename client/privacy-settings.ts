// What the operator says about privacy, which the server passes to every page.
import { createContext } from "react";

export interface PrivacySettings {
  /** Name and postal address of who keeps the list. */
  controller?: string | undefined;
  /** An email address. Without it, the pages promise nothing that needs a message to the operator. */
  contact?: string | undefined;
  /** Further pages that the law asks for, such as an imprint. */
  links: { label: string; url: string }[];
}

export const PrivacyContext = createContext<PrivacySettings>({ links: [] });
