// What a test started ends with it, also where the test failed.
import { afterEach } from "vitest";
import type { Site } from "./site.ts";

/** For a test file. @returns a list: the sites in it are killed after each test. */
export function killedAfterEach(): Site[] {
  const sites: Site[] = [];
  afterEach(async () => {
    for (const site of sites.splice(0)) await site.stop("SIGKILL");
  });
  return sites;
}
