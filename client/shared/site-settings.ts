// The operator's settings that the pages show. The server passes them to every page.
import { createContext } from "react";

export interface SiteSettings {
  /** Name and postal address of who keeps the list. */
  controller?: string | undefined;
  /** An email address. Without it, the pages promise nothing that needs a message to the operator. */
  contact?: string | undefined;
  /** Who else gets data. Without it, the privacy page says so in general. */
  recipients?: string | undefined;
  /** Further pages that the law asks for, such as an imprint. */
  links: { label: string; url: string }[];
  /** How long an entry is kept after the sign-up; 0 sets no limit. */
  retentionMonths: number;
  /** How many days after the latest mail an entry that nobody confirmed is deleted; 0 keeps it. */
  unconfirmedDays: number;
  /** Whether a new entry gets a confirmation mail. Otherwise the success state offers to undo the sign-up. */
  mail: boolean;
  /** Whether the list is closed. The browser never hydrates the closed landing page, so its bundle omits that page's parts. */
  closed: boolean;
}

/** The notice of a closed list is the same. */
export type NoticeSettings = Omit<SiteSettings, "closed">;

/** The settings, and the id of the privacy notice that they result in. */
export interface PageSettings extends SiteSettings {
  notice: string;
}

export const SettingsContext = createContext({} as PageSettings);
