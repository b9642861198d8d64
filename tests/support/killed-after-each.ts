// Kills the sites that a test started, also if the test fails.
import { afterEach } from "vitest";
import type { Site } from "./site.ts";

/** Returns a list: the sites in it are killed after each test of the file. */
export function killedAfterEach(): Site[] {
  const sites: Site[] = [];
  afterEach(async () => {
    for (const site of sites.splice(0)) await site.stop("SIGKILL");
  });
  return sites;
}
