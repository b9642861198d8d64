// A way in which a role could do more than its rights allow, and what to do about it.
import { OperatorError } from "../../operator-messages.ts";

/** Without ALLOW_PRIVILEGED_ROLE, the site does not start in production if a finding is "privileged". */
export type Severity = "privileged" | "problem" | "warning";

export interface RoleFinding {
  severity: Severity;
  text: string;
  /** SQL for an administrator; none if a variable has to be changed instead. */
  statements: string[];
}

/** The sentence and the SQL of a finding, for the log, the terminal and error messages. */
export function formatFinding({ text, statements }: RoleFinding): string {
  if (statements.length === 0) return text;
  return [`${text} As an administrator of this database, run:`, ...statements.map((sql) => `  ${sql};`)].join("\n");
}

/** @throws OperatorError if the web role is a superuser or the owner. */
export function refusePrivilegedRole(findings: RoleFinding[]): void {
  const privileged = findings.filter(({ severity }) => severity === "privileged");
  if (privileged.length === 0) return;
  const hint = "To start all the same, set ALLOW_PRIVILEGED_ROLE=true.";
  throw new OperatorError([...privileged.map(formatFinding), hint].join("\n"));
}
