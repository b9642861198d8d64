// The migrated databases of which createTestDatabase makes copies.
import { migrate } from "../../server/database/migrate.ts";
import { type DatabaseUrls, type WorkerTask } from "../../server/database/roles.ts";
import { queryAs } from "./query.ts";

/** "site" has no worker, and "mail" has the hashes of erased addresses. */
const tasks = { site: [], mail: ["mail"], webhook: ["webhook"] } satisfies Record<string, WorkerTask[]>;
export type Template = keyof typeof tasks;

export type Templates = Record<Template, { urls: DatabaseUrls; database: string; owner: string }>;

export const erasureKey = "a-key-of-32-characters-for-tests";

export async function createTemplates(superuserUrl: string): Promise<Templates> {
  const create = async (name: Template) => {
    const [database, owner] = [`template_${name}`, `template_${name}_owner`];
    await queryAs(superuserUrl, `CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD 'owners-password'`);
    await queryAs(superuserUrl, `CREATE DATABASE ${database} OWNER ${owner}`);
    const as = (role: string, password: string) =>
      Object.assign(new URL(superuserUrl), { pathname: `/${database}`, username: `${database}_${role}`, password })
        .href;
    const urls: DatabaseUrls = {
      ownerUrl: as("owner", "owners-password"),
      webUrl: as("web", "it's a long secret"),
      ...(tasks[name].length > 0 && { worker: { url: as("worker", "also a long secret"), tasks: tasks[name] } }),
      ...(name === "mail" && { erasureKey }),
    };
    await migrate(urls);
    return { urls, database, owner };
  };
  return { site: await create("site"), mail: await create("mail"), webhook: await create("webhook") };
}
