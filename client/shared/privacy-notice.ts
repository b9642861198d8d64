// The privacy notice: what the page /privacy shows and, with the form's note, the text that proves what a visitor was told.
import { earlyAccess, privacyPage } from "./content.ts";
import { fields } from "./fields.ts";
import type { NoticeSettings } from "./site-settings.ts";

interface Explanation {
  columns: string[];
  what: string;
  why: string;
  /** True if the columns are empty unless the site sends confirmation mails. */
  onlyWithMail?: true;
}

const nouns = (required: boolean) => fields.filter((field) => field.required === required).map(({ noun }) => noun);
const optional = nouns(false);
const asked = `${nouns(true).join(", ")} and, if you give ${optional.length > 1 ? "them" : "it"}, ${optional.join(" and ")}`;

/** What each column of an entry holds, and why. A test compares it with prisma/schema.prisma. */
export const explanations: Explanation[] = [
  {
    columns: fields.map(({ name }) => name),
    what: asked.charAt(0).toUpperCase() + asked.slice(1),
    why: "You enter them to join the early access list. They are used to contact you about early access.",
  },
  {
    columns: ["utm_source", "utm_medium", "utm_campaign", "utm_term", "utm_content", "referrer_host"],
    what: "The campaign in the address of the page, and the name of the site that linked to it",
    why: "They show which campaigns and sites lead people here.",
  },
  {
    columns: ["created_at"],
    what: "The time when you signed up",
    why: "The list is in the order in which people signed up.",
  },
  {
    columns: ["suspected_spam"],
    what: "A spam check",
    why: "It keeps bots out of the counts. Nobody is refused because of it.",
  },
  {
    columns: ["status", "invitation"],
    what: "Your status: waiting, invited, joined or left, and with which group you were invited",
    why: "It says who still waits for early access.",
  },
  {
    columns: ["mailed_at", "mail_refusal", "confirmed_at"],
    what: "Which mails we sent you and when, whether your mail server refused them, and the time at which you confirmed",
    why: "They show whether the address is yours.",
    onlyWithMail: true,
  },
  {
    columns: ["notice_id"],
    what: "Which version of this notice you were shown",
    why: "It proves what we told you.",
  },
  {
    columns: ["token_hash", "mail_tokens"],
    what: "A fingerprint of each link or button with which you can remove your entry",
    why: "It lets you remove the entry without an account.",
  },
  {
    columns: ["id", "imported"],
    what: "A random number for your entry, and whether it was moved here from another list",
    why: "They tell one entry from another, and what was typed here from what was imported.",
  },
];

interface NoticeSection {
  heading: string;
  terms?: Explanation[];
  text?: string;
  /** An email address that follows the text. */
  contact?: string | undefined;
}

/** Returns the sections of the page. */
export function privacySections(settings: NoticeSettings): NoticeSection[] {
  const { controller, contact, recipients, retentionMonths, unconfirmedDays, mail } = settings;
  const copy = privacyPage;
  const terms = explanations.filter(({ onlyWithMail }) => mail || !onlyWithMail);
  const withdrawal = [
    copy.withdrawal,
    mail ? copy.withdrawalByLink : copy.withdrawalByButton,
    ...(contact ? [copy.withdrawalByMessage] : []),
    copy.erasures,
  ];
  const retention = [
    copy.retention(retentionMonths),
    ...(unconfirmedDays > 0 ? [copy.unconfirmed(unconfirmedDays)] : []),
  ];
  return [
    { heading: copy.visitHeading, text: copy.visit },
    ...(controller ? [{ heading: copy.controllerHeading, text: controller }] : []),
    { heading: copy.dataHeading, terms },
    { heading: copy.basisHeading, text: copy.basis },
    { heading: copy.recipientsHeading, text: recipients ?? copy.recipients },
    { heading: copy.retentionHeading, text: retention.join(" ") },
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
    const text = [section.text, section.contact].filter(Boolean).join(" ");
    return [section.heading, ...terms, ...(text ? [text] : [])].join("\n");
  });
  return `${[note, privacyPage.heading, ...sections].join("\n\n")}\n`;
}
