// The privacy notice: what the page /privacy shows and, with the form's note, the text that proves what a visitor was told.
import { earlyAccess, privacyPage } from "./content.ts";
import { explanations, type Explanation } from "./explained-columns.ts";
import type { NoticeSettings } from "./site-settings.ts";

interface NoticeSection {
  heading: string;
  terms?: Explanation[];
  text: string;
  /** An email address that follows the text. */
  contact?: string;
}

/** Returns the sections of the page. */
export function privacySections(settings: NoticeSettings): NoticeSection[] {
  const { controller, contact, retentionMonths, keepsErasures, mail } = settings;
  const terms = explanations.filter(({ onlyWithMail }) => mail || !onlyWithMail);
  const retention = [privacyPage.retention(retentionMonths), ...(keepsErasures ? [privacyPage.erasures] : [])];
  return [
    ...(controller ? [{ heading: privacyPage.controllerHeading, text: controller }] : []),
    { heading: privacyPage.dataHeading, terms, text: privacyPage.visit },
    { heading: privacyPage.retentionHeading, text: retention.join(" ") },
    ...(contact ? [{ heading: privacyPage.rightsHeading, text: privacyPage.rights, contact }] : []),
  ];
}

/** Returns everything that a visitor is told, as plain text: the form's note, then the page. */
export function noticeText(settings: NoticeSettings): string {
  const { contact } = settings;
  const note = contact ? `${earlyAccess.privacy} ${earlyAccess.deletion} ${contact}.` : earlyAccess.privacy;
  const sections = privacySections(settings).map((section) => {
    const terms = section.terms?.map(({ what, why }) => `- ${what}. ${why}`) ?? [];
    return [section.heading, ...terms, [section.text, section.contact].filter(Boolean).join(" ")].join("\n");
  });
  return `${[note, privacyPage.heading, ...sections].join("\n\n")}\n`;
}
