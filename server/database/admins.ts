// The admins' personal logins: members of the role of DATABASE_ADMIN_URL, whose rights they inherit.
import { randomBytes } from "node:crypto";
import pg from "pg";
import { OperatorError } from "../operator-error.ts";
import { printableName } from "../printable.ts";
import { createRole } from "./roles.ts";

const nameRule = /^(?!pg_)[a-z][a-z0-9_]{0,62}$/;

/**
 * Lists the personal logins by name. From Postgres 16 the owner, who creates the group, is a member as well.
 * @param group the role of DATABASE_ADMIN_URL.
 */
export async function listAdmins(client: pg.Client, group: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT DISTINCT m.rolname AS name
     FROM pg_auth_members JOIN pg_roles g ON g.oid = roleid JOIN pg_roles m ON m.oid = member
     WHERE g.rolname = $1 AND m.rolcanlogin AND m.rolname <> current_user
       AND m.oid NOT IN (SELECT relowner FROM pg_class WHERE oid = to_regclass('public.earlyaccess'))
     ORDER BY name`,
    [group],
  );
  return rows.map(({ name }) => name);
}

/**
 * Creates a personal login that inherits the rights of the group.
 * @returns its new password.
 * @throws OperatorError if the name is not allowed or taken, or the owner may not create it.
 */
export async function addAdmin(owner: pg.Client, group: string, name: string): Promise<string> {
  if (!nameRule.test(name)) {
    throw new OperatorError("An admin's name has up to 63 small letters, digits and _, for example: ada");
  }
  const password = randomBytes(24).toString("hex");
  const statements = await createRole(owner, { name, password }, group);
  if (statements.length > 0) return password;
  throw new OperatorError(`There is already a role "${name}" in this Postgres. Choose another name.`);
}

/**
 * Removes a personal login. Its open sessions lose their rights at once.
 * @throws OperatorError if the login is not an admin, or has other uses.
 */
export async function removeAdmin(owner: pg.Client, group: string, name: string): Promise<void> {
  const admins = await listAdmins(owner, group);
  if (!admins.includes(name)) {
    const known = admins.length > 0 ? `The admins are ${admins.join(", ")}.` : "There are no admins.";
    throw new OperatorError(`"${printableName(name)}" is not an admin. ${known}`);
  }
  const { rowCount } = await owner.query(
    "SELECT FROM pg_auth_members JOIN pg_roles m ON m.oid = member WHERE rolname = $1 AND roleid <> to_regrole($2)",
    [name, pg.escapeIdentifier(group)],
  );
  const role = pg.escapeIdentifier(name);
  if (rowCount) {
    throw new OperatorError(
      `"${name}" is a member of other roles, so something else may use it. To take only its rights on the waitlist, run: REVOKE ${pg.escapeIdentifier(group)} FROM ${role};`,
    );
  }
  await owner.query(`DROP ROLE ${role}`);
}
