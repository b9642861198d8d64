// The columns of a CSV file, and the names that other tools give them.
import type { FieldName } from "../../../../client/shared/fields.ts";
import type { Source } from "../../../models/source.ts";
import { OperatorError } from "../../../operator-messages.ts";

type OtherColumn = "first_name" | "last_name" | "created_at" | "status" | "suspected_spam" | "unusual_volume";

/** In lower case without spaces and punctuation: "E-Mail address" is emailaddress. */
const names: Record<FieldName | keyof Source | OtherColumn, string[]> = {
  name: ["name", "fullname", "yourname", "contact", "contactname", "displayname"],
  first_name: ["firstname", "givenname", "forename"],
  last_name: ["lastname", "surname", "familyname"],
  email: ["email", "emailaddress", "mail", "mailaddress", "workemail", "youremail"],
  company: [
    "company",
    "companyname",
    "organisation",
    "organization",
    "organisationname",
    "organizationname",
    "employer",
  ],
  job_title: ["jobtitle", "title", "role", "position", "job"],
  created_at: ["createdat", "created", "date", "signedup", "signedupat", "signupdate", "submittedat", "timestamp"],
  status: ["status"],
  suspected_spam: ["suspectedspam"],
  unusual_volume: ["unusualvolume"],
  utm_source: ["utmsource"],
  utm_medium: ["utmmedium"],
  utm_campaign: ["utmcampaign"],
  utm_term: ["utmterm"],
  utm_content: ["utmcontent"],
  referrer_host: ["referrerhost", "referrer", "referer"],
};

const byName = new Map(Object.entries(names).flatMap(([column, all]) => all.map((name) => [name, column])));

export interface Columns {
  /** The known columns, and their index in a line. */
  places: [column: string, place: number][];
  /** The number of columns, including unknown ones. */
  width: number;
  /** The names of unknown columns. */
  ignored: string[];
}

/** @throws OperatorError if a required column is missing or a column occurs twice. */
export function matchColumns(header: string[]): Columns {
  const places: Columns["places"] = [];
  const ignored: string[] = [];
  for (const [place, name] of header.entries()) {
    const column = byName.get(
      name
        .normalize("NFC")
        .toLowerCase()
        .replaceAll(/[\s_.:*-]/g, ""),
    );
    if (column) places.push([column, place]);
    else if (name.trim() !== "") ignored.push(name.trim());
  }
  const has = (column: string) => places.some(([other]) => other === column);
  // The message does not quote the first line: without a header it would be personal data.
  for (const column of ["email", "name", "company"] as const) {
    if (has(column) || (column === "name" && (has("first_name") || has("last_name")))) continue;
    const known = names[column].join(", ");
    throw new OperatorError(`The first line names no column for the ${column}. Use one of these names: ${known}`);
  }
  const twice = places.find(([column], i) => places.findIndex(([other]) => other === column) !== i);
  if (twice) throw new OperatorError(`Two columns are for ${twice[0]}. Remove one.`);
  return { places, width: header.length, ignored };
}
