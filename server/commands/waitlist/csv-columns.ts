// Knows what other tools call the columns of an entry.
import { OperatorError } from "../../operator-error.ts";

/** In small letters without spaces and signs: "E-Mail address" is emailaddress. */
const names: Record<string, string[]> = {
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
  /** Which column stands at which place, from 0. */
  places: [column: string, place: number][];
  /** How many columns there are, also unknown ones. */
  width: number;
  /** The names of those that mean nothing to the waitlist. */
  ignored: string[];
}

/** @throws OperatorError where one that an entry needs is missing, or two claim to be the same. */
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
  // The first line is not quoted: where it is no header, it is somebody's data.
  for (const column of ["email", "name", "company"]) {
    if (has(column) || (column === "name" && (has("first_name") || has("last_name")))) continue;
    const known = (names[column] as string[]).join(", ");
    throw new OperatorError(`The first line names no column for the ${column}; one of these is meant: ${known}`);
  }
  const twice = places.find(([column], i) => places.findIndex(([other]) => other === column) !== i);
  if (twice) throw new OperatorError(`Two columns are for ${twice[0]}; leave one.`);
  return { places, width: header.length, ignored };
}
