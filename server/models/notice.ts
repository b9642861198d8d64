// The privacy notice of the form, under an id that its sign-ups name.
import { createHash } from "node:crypto";
import { noticeText } from "../../client/shared/privacy-notice.ts";
import type { NoticeSettings } from "../../client/shared/site-settings.ts";

export interface Notice {
  /** The first 32 hexadecimal digits of the text's SHA-256. */
  id: string;
  text: string;
}

export function createNotice(settings: NoticeSettings): Notice {
  const text = noticeText(settings);
  return { id: createHash("sha256").update(text).digest("hex").slice(0, 32), text };
}

/**
 * Returns the id that a sign-up names, or null. An id without a notice is stored, too: the web process cannot read which
 * notices earlier versions showed.
 */
export function readNoticeId(value: unknown): string | null {
  return typeof value === "string" && /^[\da-f]{32}$/.test(value) ? value : null;
}
