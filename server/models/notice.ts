// The settings that the pages show, and the privacy notice of the form, under an id that its sign-ups name.
import { createHash } from "node:crypto";
import { noticeText } from "../../client/shared/privacy-notice.ts";
import type { NoticeSettings, PageSettings } from "../../client/shared/site-settings.ts";
import type { Config } from "../config.ts";
import { describeClosing, isOpen } from "./signup-window.ts";

export interface Notice {
  /** The first 32 hexadecimal digits of the text's SHA-256. */
  id: string;
  text: string;
}

export function createNotice(settings: NoticeSettings): Notice {
  const text = noticeText(settings);
  return { id: createHash("sha256").update(text).digest("hex").slice(0, 32), text };
}

/** Returns the privacy notice, and a function that reads the page settings, because `closed` changes with the clock. */
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
