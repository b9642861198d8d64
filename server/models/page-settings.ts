// The settings that the pages show, the privacy notice of the form, and the time at which an open list closes by itself.
import { createHash } from "node:crypto";
import type { Config } from "../config/settings.ts";
import { noticeText } from "../../client/shared/privacy-notice.ts";
import type { NoticeSettings, PageSettings } from "../../client/shared/site-settings.ts";

/** Returns the privacy notice, and a function that reads the page settings, because `closed` changes with the clock. */
export function createPageSettings(config: Config): { settings: () => PageSettings; notice: Notice } {
  const fixed = {
    controller: config.CONTROLLER,
    contact: config.CONTACT_EMAIL,
    recipients: config.RECIPIENTS,
    links: config.LEGAL_LINKS ?? [],
    retentionMonths: config.RETENTION_MONTHS,
    unconfirmedDays: config.UNCONFIRMED_DAYS,
    keepsErasures: config.ERASURE_KEY !== undefined,
    mail: config.MAIL_FROM !== undefined,
    closes: config.WAITLIST_CLOSES && describeClosing(config.WAITLIST_CLOSES),
  };
  const notice = createNotice(fixed);
  return { settings: () => ({ ...fixed, notice: notice.id, closed: !isOpen(config) }), notice };
}

export interface Notice {
  /** The first 32 hexadecimal digits of the text's SHA-256. */
  id: string;
  text: string;
}

export function createNotice(settings: NoticeSettings): Notice {
  const text = noticeText(settings);
  return { id: createHash("sha256").update(text).digest("hex").slice(0, 32), text };
}

function isOpen({ WAITLIST, WAITLIST_CLOSES }: Config): boolean {
  return WAITLIST === "open" && !(WAITLIST_CLOSES && Date.now() >= WAITLIST_CLOSES.getTime());
}

/** Returns the closing time as text: the day if the list closes at its end in UTC, otherwise day and time. Intl would take 8 MB of memory. */
export function describeClosing(time: Date): string {
  const isMidnight = time.getTime() % 86_400_000 === 0;
  const shown = isMidnight ? new Date(time.getTime() - 1) : time;
  // From "Thu, 31 Dec 2026 17:00:00 GMT".
  return `${shown.toUTCString().slice(5, isMidnight ? 16 : 22)} (UTC)`;
}
