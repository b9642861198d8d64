// The admins' personal logins: roles with an admin's rights, marked by a comment that only their creator can change.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { OperatorError, printableName } from "../../operator-messages.ts";
import { createRole, rightChanges, setUpRole } from "./set-up.ts";
import { listAdmins, loginComment, personalLogin } from "./site-roles.ts";

/** Postgres has roles "public" and "none" of its own; the site's URLs usually name roles that begin with perennial_. */
const nameRule = /^(?!pg_|perennial_|(?:public|none)$)[a-z][a-z0-9_]{0,62}$/;

/**
 * Creates a personal login.
 * @returns its new password.
 * @throws OperatorError if the name is not allowed or taken, or the owner may not create it.
 */
export async function addAdmin(owner: pg.Client, name: string): Promise<string> {
  if (!nameRule.test(name)) {
    throw new OperatorError(
      "An admin's name begins with a letter, has at most 63 small letters, digits and _, and does not begin with pg_ or perennial_, for example: ada",
    );
  }
  const login = personalLogin(name, randomBytes(24).toString("hex"));
  const created = await createRole(owner, login);
  if (created.length === 0) {
    throw new OperatorError(`There is already a role "${name}" in this Postgres. Choose another name.`);
  }
  const { rows } = await owner.query<{ comment: string }>(`SELECT quote_literal(${loginComment}) AS comment`);
  await owner.query(`COMMENT ON ROLE ${pg.escapeIdentifier(name)} IS ${rows[0]?.comment}`);
  await setUpRole(owner, login);
  return login.password;
}

/**
 * Takes all rights from a personal login, also from its open sessions, and removes it.
 * @throws OperatorError if it is not an admin, or Postgres cannot drop it; then it has no rights and cannot log in.
 */
export async function removeAdmin(owner: pg.Client, name: string): Promise<void> {
  const admins = await listAdmins(owner);
  if (!admins.includes(name)) {
    const known = admins.length > 0 ? `The admins are ${admins.join(", ")}.` : "There are no admins.";
    throw new OperatorError(`"${printableName(name)}" is not an admin. ${known}`);
  }
  const role = pg.escapeIdentifier(name);
  const { rows } = await owner.query<{ statement: string }>(
    "SELECT format('REVOKE ALL ON DATABASE %1$I FROM %2$I; REVOKE ALL ON SCHEMA public FROM %2$I', current_database(), $1::text) AS statement",
    [name],
  );
  const revokes = (await rightChanges(owner, name, [])).filter((statement) => statement.startsWith("REVOKE"));
  for (const statement of [...revokes, rows[0]?.statement ?? "", `ALTER ROLE ${role} NOLOGIN`]) {
    await owner.query(statement);
  }
  try {
    await owner.query(`DROP ROLE ${role}`);
  } catch (error) {
    if ((error as { code?: string }).code !== "2BP01") throw error;
    throw new OperatorError(
      `"${name}" has no rights and cannot log in any more, but owns something in this Postgres, so it cannot be dropped. As an administrator, in each database: DROP OWNED BY ${role}; then: DROP ROLE ${role};`,
    );
  }
}
