// Caddy as the profile "https" starts it, in front of a site of this machine, without certificates.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../server/database/embedded/free-port.ts";
import { projectRoot } from "../../server/config/project-root.ts";
import { findProgram, runSite, until, type Site } from "./run.ts";

/** It trusts X-Forwarded-For of this machine and adds the address of its client: the site needs TRUST_PROXY=2. */
export async function startCaddy(site: Site, folder: string): Promise<Site> {
  const program = findProgram("caddy");
  const isOld = /^v?2\.6\.[0-3]\b/.test(execFileSync(program, ["version"], { encoding: "utf8" }));
  const shipped = readFileSync(join(projectRoot, "deploy/Caddyfile.https"), "utf8").replace(
    "site:3000",
    new URL(site.url).host,
  );
  const file = join(folder, "Caddyfile");
  // Debian's Caddy has the option under its older name.
  writeFileSync(file, isOld ? shipped.replace("request_buffers ", "buffer_requests\nmax_buffer_size ") : shipped);
  const url = `http://localhost:${await freePort()}`;
  const caddy = runSite({
    command: [program, "run", "--adapter", "caddyfile", "--config", file],
    env: { DOMAIN: url, TRUSTED_PROXIES: "127.0.0.0/8 ::1", XDG_CONFIG_HOME: folder, XDG_DATA_HOME: folder },
  });
  await until("Caddy answers", async () => (await fetch(`${url}/healthz`).catch(() => undefined))?.ok);
  return { ...caddy, url };
}
