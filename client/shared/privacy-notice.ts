// The privacy notice: what the page /privacy shows and, with the form's note, the text that proves what a visitor was told.
import { earlyAccess, privacyPage } from "./content.ts";
import { explanations, type Explanation } from "./explained-columns.ts";
import type { NoticeSettings } from "./site-settings.ts";

interface NoticeSection {
  heading: string;
  terms?: Explanation[];
  text: string;
  /** An email address that follows the text. */
  contact?: string | undefined;
}

/** Returns the sections of the page. */
export function privacySections(settings: NoticeSettings): NoticeSection[] {
  const { controller, contact, recipients, retentionMonths, keepsErasures, mail } = settings;
  const copy = privacyPage;
  const terms = explanations.filter(({ onlyWithMail }) => mail || !onlyWithMail);
  const withdrawal = [
    copy.withdrawal,
    mail ? copy.withdrawalByLink : copy.withdrawalByButton,
    ...(contact ? [copy.withdrawalByMessage] : []),
    ...(keepsErasures ? [copy.erasures] : []),
  ];
  return [
    ...(controller ? [{ heading: copy.controllerHeading, text: controller }] : []),
    { heading: copy.dataHeading, terms, text: copy.visit },
    { heading: copy.basisHeading, text: copy.basis(keepsErasures) },
    { heading: copy.recipientsHeading, text: recipients ?? copy.recipients },
    { heading: copy.retentionHeading, text: copy.retention(retentionMonths) },
    { heading: copy.withdrawalHeading, text: withdrawal.join(" ") },
    { heading: copy.objectionHeading, text: copy.objection },
    { heading: copy.rightsHeading, text: contact ? `${copy.rights} ${copy.rightsContact}` : copy.rights, contact },
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
