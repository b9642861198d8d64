// The COPY statements that write a batch as CSV: plain, or with the headers that a mailing tool documents for its import.
import pg from "pg";
import { fields } from "../../../../client/shared/fields.ts";
import { readChoice } from "../command.ts";
import { guard } from "../spreadsheet-cell.ts";

const firstName = "rtrim(regexp_replace(name, ' [^ ]*$', ''))";
const lastName = "CASE WHEN name LIKE '% %' THEN regexp_replace(name, '^.* ', '') ELSE '' END";
const attributes = "json_build_object('company', company, 'job_title', job_title)::text";

/** The SQL expression of each column, by its header. */
const formats: Record<string, Record<string, string>> = {
  csv: Object.fromEntries(fields.map(({ name }) => [name, name])),
  // https://mailchimp.com/help/format-guidelines-for-your-import-file/
  mailchimp: {
    "Email Address": "email",
    "First Name": firstName,
    "Last Name": lastName,
    Company: "company",
  },
  // https://help.brevo.com/hc/en-us/articles/208729849 allows commas, semicolons and tabs.
  brevo: { EMAIL: "email", FIRSTNAME: firstName, LASTNAME: lastName, COMPANY: "company" },
  // https://listmonk.app/docs/apis/import/
  listmonk: { email: "email", name: "name", attributes },
};

/**
 * @returns the COPY statement for the people of a batch who still have the status invited, the oldest first.
 * @throws UsageError if there is no such format.
 */
export function readFormat(name: string): (batch: string) => string {
  const columns = readChoice("format", name, formats);
  // A spreadsheet may open the file. Only an address that begins with + - = changes by this.
  const cells = Object.entries(columns).map(([header, cell]) => `${guard(cell)} AS "${header}"`);
  return (batch) =>
    `COPY (SELECT ${cells.join(", ")} FROM public.earlyaccess
           WHERE batch = ${pg.escapeLiteral(batch)} AND status = 'invited' ORDER BY created_at, id)
     TO STDOUT (FORMAT csv, HEADER)`;
}
