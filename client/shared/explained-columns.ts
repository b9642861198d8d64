// What each column of an entry holds, and why. The page /privacy shows it; server/views/privacy.test.ts compares it
// with prisma/schema.prisma.
import { fields } from "./fields.ts";

export interface Explanation {
  columns: string[];
  what: string;
  why: string;
  /** True if the columns are empty unless the site sends confirmation mails. */
  onlyWithMail?: true;
}

const nouns = (required: boolean) => fields.filter((field) => field.required === required).map(({ noun }) => noun);
const optional = nouns(false);
const asked = `${nouns(true).join(", ")} and, if you give ${optional.length > 1 ? "them" : "it"}, ${optional.join(" and ")}`;

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
    what: "The time of your sign-up",
    why: "The list is in the order of the sign-ups.",
  },
  {
    columns: ["suspected_spam", "disposable_email", "unusual_volume"],
    what: "Spam checks: suspected spam, disposable address, many sign-ups at once",
    why: "They keep bots out of the counts. Nobody is refused because of them.",
  },
  {
    columns: ["status", "invitation"],
    what: "Your status: waiting, invited, joined or left, and with which group you were invited",
    why: "It says who still waits for early access.",
  },
  {
    columns: ["mailed_at", "mail_refusal", "confirmed_at"],
    what: "The time of our confirmation mail, whether your mail server refused it, and the time at which you confirmed",
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
    columns: ["erasure_hash"],
    what: "A fingerprint of your address",
    why: "It keeps an entry that you removed from coming back.",
    onlyWithMail: true,
  },
  {
    columns: ["id", "imported"],
    what: "A random number for your entry, and whether it was moved here from another list",
    why: "They tell one entry from another, and a sign-up from an import.",
  },
];
