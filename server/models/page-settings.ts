// The settings that the pages show, and the privacy notice of the form.
import { createHash } from "node:crypto";
import type { Config } from "../config/settings.ts";
import { noticeText } from "../../client/shared/privacy-notice.ts";
import type { NoticeSettings, PageSettings } from "../../client/shared/site-settings.ts";

export function createPageSettings(config: Config): { settings: PageSettings; notice: Notice } {
  const settings = {
    controller: config.CONTROLLER,
    contact: config.CONTACT_EMAIL,
    recipients: config.RECIPIENTS,
    links: config.LEGAL_LINKS ?? [],
    retentionMonths: config.RETENTION_MONTHS,
    unconfirmedDays: config.UNCONFIRMED_DAYS,
    mail: config.MAIL_FROM !== undefined,
    closed: config.WAITLIST === "closed",
  };
  const notice = createNotice(settings);
  return { settings: { ...settings, notice: notice.id }, notice };
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
