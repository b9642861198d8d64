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
