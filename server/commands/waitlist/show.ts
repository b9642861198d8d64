// waitlist show: everything that is kept about a person, and the privacy notice of the sign-up (GDPR, articles 7, 13 and 15).
import { Command, Option } from "commander";
import type pg from "pg";
import { isQueueEnabled } from "../../database/queue.ts";
import { findErasure, findPerson, mayReadKept, type Person } from "../../models/operators/erasures.ts";
import { findMailingsOf } from "../../models/operators/mailings.ts";
import { findMailState } from "../../models/operators/mail-state.ts";
import { OperatorError, printable } from "../../errors.ts";
import { print, retryHint, withOwner } from "../command.ts";

export const show = new Command("show")
  .summary("prints everything that is kept about the person with ADDRESS")
  .description("Times are in UTC. show also says whether the address was erased.")
  .argument("ADDRESS")
  .addOption(new Option("--format <FORMAT>").choices(["text", "json"]).default("text"))
  .action(async (email: string, { format }: { format: string }) => {
    await withOwner(async (client) => {
      const person = await findPerson(client, email);
      const isReadable = await mayReadKept(client);
      const erased = isReadable && (await findErasure(client, email));
      const note = erased ? ` The address was erased at ${erased}; the database keeps its hash.` : "";
      if (!person) throw new OperatorError(`The list has no entry with this address.${note}`);
      if (isReadable) person.mailings = await findMailingsOf(client, person.entry.id);
      if (format === "json") process.stdout.write(`${JSON.stringify(person, null, 2)}\n`);
      else print(describePerson(person, await describeMail(client, person)));
      if (note) process.stderr.write(`${note.trim()}\n`);
    });
  });

/** Each value is one line: a field cannot imitate another one, the status history or the notice. */
function describePerson(person: Person, mail: string): string {
  const rows = Object.entries(person.entry);
  const width = Math.max(...rows.map(([name]) => name.length));
  const columns = rows.map(([name, value]) => `${name.padEnd(width)}  ${printable(String(value ?? ""))}`.trimEnd());
  const changes = person.status_changes.map(
    ({ changed_at, changed_by, old_status, new_status }) =>
      `${changed_at}  ${old_status} → ${new_status} by ${printable(changed_by)}`,
  );
  const history = changes.length > 0 ? ["Status changes:", ...changes] : ["No status changes."];
  return [
    ...columns,
    "",
    printable(mail),
    ...describeMailings(person),
    "",
    ...history,
    "",
    describeNotice(person),
    "",
  ].join("\n");
}

function describeMailings({ mailings = [] }: Person): string[] {
  return mailings.map(({ name, outcome, tried_at, reply }) => {
    const when = tried_at ? ` at ${tried_at}` : "";
    const words = reply ? `: ${printable(reply)}` : "";
    if (outcome === null) return `The mailing ${name} waits${words}.`;
    if (outcome === "unknown") {
      return `The mailing ${name} was tried${when}; whether it arrived is not known${words}.`;
    }
    if (/^\d/.test(outcome)) return `The mail server refused the mailing ${name}${when}${words || `: ${outcome}`}.`;
    return `The mailing ${name} was ${outcome}${when}${words}.`;
  });
}

/** Says where the confirmation mail is. An admin may not read the queue. */
async function describeMail(client: pg.Client, { entry }: Person): Promise<string> {
  const { rows: rights } = await client.query(
    "SELECT has_schema_privilege(to_regnamespace('graphile_worker'), 'USAGE') AS may",
  );
  const mayReadQueue: boolean = rights[0].may;
  const { state, next, error } = await findMailState(client, entry.id, mayReadQueue);
  if (entry.mail_refusal === "bounced") {
    return "No mail goes to the address, which is marked as bounced. To remove the mark, run: waitlist bounced --undo ADDRESS";
  }
  if (state === "refused") return `The mail server refused the address: ${entry.mail_refusal}.`;
  if (state === "given up") return `The mail was given up after 25 attempts. ${error}. ${retryHint}`;
  const known = [
    state === "mailed" && `A mail was sent at ${entry.mailed_at}.`,
    next && `A mail waits for its next attempt at ${next}.${error ? ` ${error}.` : ""}`,
  ].filter(Boolean);
  if (known.length > 0) return known.join(" ");
  if (!(await isQueueEnabled(client, "mail"))) return "The site sends no mails.";
  if (state === "missing" && !mayReadQueue) return "No mail was sent. Whether one waits, this role may not read.";
  return `No mail is queued: ${explainMissing(entry)}.`;
}

function explainMissing(entry: Person["entry"]): string {
  const reason = ["imported", "suspected_spam"].find((column) => entry[column]);
  if (reason) return `the entry is marked ${reason}`;
  if (entry.status !== "waiting") return `the entry has the status ${entry.status}`;
  if (entry.confirmed_at) return "the address is confirmed";
  return "the site sent no mails at that time, the queue failed, or a restore lost the job. To send it, run: waitlist retry --since DATE";
}

function describeNotice({ entry, notice }: Person): string {
  if (entry.imported) return "The entry came from an import, which shows no notice.";
  if (entry.notice_id === null) return "The sign-up named no notice: it came from a client of the API.";
  const named = `The sign-up named the notice ${printable(String(entry.notice_id).trimEnd())}`;
  if (!notice) return `${named}, which the site did not store.`;
  return `${named}, which the site first showed at ${notice.shown_at}. Its text:\n\n${notice.text}`;
}
