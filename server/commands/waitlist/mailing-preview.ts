// What mail preview prints: who can get the mailing, who is left out and why, how long it takes, and the text.
import { parseMailingText, findTypedMarkup } from "../../mail/letter.ts";
import { renderMailing, type MailingSender } from "../../mail/mailing.ts";
import type { Candidates, Reason } from "../../models/operators/mailings.ts";
import { printable } from "../../errors.ts";
import { formatCount, countEntries, countPeople } from "../command.ts";

const reasons: Record<Reason, string> = {
  unconfirmed: "unconfirmed: left out. --unconfirmed adds them. retry --since asks those who never had a mail",
  imported: "imported: left out. --imported adds them",
  flagged: "flagged",
  refused: "refused or bounced",
  joined: "with the status joined",
  left: "with the status left",
  onIt: "on this mailing already",
  misspelt: "with a spelling that no sign-up stores",
  others: "not of the chosen people",
};

/** @param send the command that sends it to them. */
export function formatPreview(
  text: string,
  sender: MailingSender,
  { chosen, leftOut, entries }: Candidates,
  perHour: number,
  send: string,
): string {
  const first = chosen.slice(0, 3).map(({ email }) => printable(email));
  const named = (Object.keys(reasons) as Reason[]).filter((reason) => leftOut[reason]);
  const hours = chosen.length / perHour;
  const inHours = hours < 1 ? "less than an hour" : `${hours.toFixed(1)} hours`;
  const duration = hours < 48 ? inHours : `${(hours / 24).toFixed(1)} days`;
  const { subject, text: part } = renderMailing(parseMailingText(text), sender, "…");
  const next = chosen.length > 0 ? `To send it: ${send}` : "Nobody can get it.";
  return [
    `${countPeople(chosen.length)} can get it${first.length > 0 ? `: first ${first.join(", ")}` : ""}.`,
    ...named.map((reason) => `${formatCount(leftOut[reason] ?? 0)} ${reasons[reason]}.`),
    `These are all ${countEntries(entries)}.`,
    `At ${formatCount(perHour)} an hour, ${formatCount(Math.min(perHour * 24, chosen.length))} a day: ${duration}.`,
    ...findTypedMarkup(text).map((markup) => `Warning: readers see ${markup} as you typed it.`),
    "",
    `Subject: ${subject}`,
    "",
    part,
    `Nothing was sent. ${next}`,
    "",
  ].join("\n");
}
