// What became of each mailing, as mail list and doctor say it, and what to do if it stopped.
import type pg from "pg";
import { listMailings, type Mailing } from "../../models/operators/mailings.ts";
import { printable } from "../../errors.ts";
import { formatCount, countPeople } from "../command.ts";
import { ok, warn, type Finding } from "./finding.ts";

export function describeMailing(mailing: Mailing): string {
  const { sent, gone, waiting, refused, givenUp, unknown, skipped } = mailing;
  const counts = [
    `sent ${formatCount(sent)} (your mail server took it), ${formatCount(gone)} of them no longer on the list`,
    `refused ${formatCount(refused)}, given up ${formatCount(givenUp)}, unknown ${formatCount(unknown)}, skipped ${formatCount(skipped)}`,
    waiting > 0 ? `${countPeople(waiting)} wait${waiting === 1 ? "s" : ""}: ${describeState(mailing)}` : "nobody waits",
  ];
  return `${counts.join("; ")}.`;
}

function describeState({ name, isStopped, isCopy, isLate, until, reason, reply }: Mailing): string {
  if (isCopy) {
    return `this database was made from a copy: those who wait may have had it; waitlist mail stop ${name} ends it`;
  }
  const cause = [reason && `: ${printable(reason.replace(/\.$/, ""))}`, reply && ` (${printable(reply)})`].join("");
  if (isStopped) return `it stopped${cause}; waitlist mail send ${name} FILE 0 goes on`;
  return isLate ? `nothing was sent in the last hour${cause}` : `until ${until} or later${cause}`;
}

/** A mailing that waits for somebody to act is a warning. */
export async function examineMailings(owner: pg.Client): Promise<Finding> {
  const waiting = (await listMailings(owner)).filter((mailing) => mailing.waiting > 0);
  const held = waiting.filter(({ isStopped, isCopy, isLate }) => isStopped || isCopy || isLate);
  const describeAll = (list: Mailing[]) =>
    list.map((mailing) => `${mailing.name}: ${describeMailing(mailing)}`).join("\n");
  if (held.length > 0) return warn("Mailings", describeAll(held));
  return ok("Mailings", waiting.length > 0 ? describeAll(waiting) : "none is under way");
}
