// The migrated databases of which createTestDatabase makes copies.
import { migrate } from "../../server/database/migrate.ts";
import { workerTasks, type DatabaseUrls } from "../../server/database/roles.ts";
import { queryAs } from "./query.ts";

/** "site": as without a worker. "worker": with all of its tasks, and hashes of erased addresses. */
export type Template = "site" | "worker";

export type Templates = Record<Template, { urls: DatabaseUrls; database: string; owner: string }>;

export const erasureKey = "a-key-of-32-characters-for-tests";

export async function createTemplates(superuserUrl: string): Promise<Templates> {
  const create = async (name: Template) => {
    const [database, owner] = [`template_${name}`, `template_${name}_owner`];
    await queryAs(superuserUrl, `CREATE ROLE ${owner} LOGIN CREATEROLE PASSWORD 'owners-password'`);
    await queryAs(superuserUrl, `CREATE DATABASE ${database} OWNER ${owner}`);
    const as = (role: string, password: string) =>
      Object.assign(new URL(superuserUrl), { pathname: `/${database}`, username: `${database}_${role}`, password }).href;
    const urls: DatabaseUrls = {
      ownerUrl: as("owner", "owners-password"),
      webUrl: as("web", "it's a long secret"),
      ...(name === "worker" && {
        worker: { url: as("worker", "also a long secret"), tasks: [...workerTasks] },
        erasureKey,
      }),
    };
    await migrate(urls);
    return { urls, database, owner };
  };
  return { site: await create("site"), worker: await create("worker") };
}
