// The settings that the pages show, from the configuration.
import type { PageSettings } from "../../client/shared/site-settings.ts";
import type { Config } from "../config.ts";
import { createNotice, type Notice } from "./notice.ts";
import { describeClosing, isOpen } from "./signup-window.ts";

/** Returns a function for the page settings, as `closed` follows the clock, and their privacy notice. */
export function createPageSettings(config: Config): { settings: () => PageSettings; notice: Notice } {
  const { controller, contactEmail, legalLinks, retentionMonths, erasureKey, mailFrom, waitlistCloses } = config;
  const fixed = {
    controller,
    contact: contactEmail,
    links: legalLinks ?? [],
    retentionMonths,
    keepsErasures: erasureKey !== undefined,
    mail: mailFrom !== undefined,
    closes: waitlistCloses && describeClosing(waitlistCloses),
  };
  const notice = createNotice(fixed);
  return { settings: () => ({ ...fixed, notice: notice.id, closed: !isOpen(config) }), notice };
}
