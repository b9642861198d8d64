// What became of each mailing, as mail --list and doctor say it, and what to do if it stopped.
import type pg from "pg";
import { listMailings, type Mailing } from "../../models/operators/mailings.ts";
import { printable } from "../../errors.ts";
import { count, countPeople } from "../command.ts";
import { ok, warn, type Finding } from "./finding.ts";

export function describeMailing(mailing: Mailing): string {
  const { sent, gone, waiting, refused, unknown, skipped } = mailing;
  const counts = [
    `sent ${count(sent)} (your mail server took it), ${count(gone)} of them no longer on the list`,
    `refused ${count(refused)}, unknown ${count(unknown)}, skipped ${count(skipped)}`,
    waiting > 0 ? `${countPeople(waiting)} wait${waiting === 1 ? "s" : ""}: ${describeState(mailing)}` : "nobody waits",
  ];
  return `${counts.join("; ")}.`;
}

function describeState({ name, isStopped, until, reply, job, error }: Mailing): string {
  const resume = `waitlist mail ${name} FILE --send 0 goes on`;
  const reason = reply ? ` (${printable(reply)})` : "";
  if (isStopped) return `it stopped${reason}; ${resume}`;
  if (job === "missing") return `the queue has no job of it, as after a restore; waitlist mail --stop ${name} ends it`;
  if (job === "given up") return `its job was given up after 25 attempts (${printable(error ?? "")}); ${resume}`;
  return `until ${until} or later${reason}`;
}

/** A mailing that waits for somebody to act is a warning. */
export async function examineMailings(owner: pg.Client): Promise<Finding> {
  const waiting = (await listMailings(owner)).filter((mailing) => mailing.waiting > 0);
  const held = waiting.filter(({ isStopped, job }) => isStopped || job !== "queued");
  const describeAll = (list: Mailing[]) =>
    list.map((mailing) => `${mailing.name}: ${describeMailing(mailing)}`).join("\n");
  if (held.length > 0) return warn("Mailings", describeAll(held));
  return ok("Mailings", waiting.length > 0 ? describeAll(waiting) : "none is under way");
}
