// Hostile bodies at length: what `npm test` sends 2,000 of.
import assert from "node:assert/strict";
import { sendHostileBodies } from "../support/hostile-bodies.ts";
import type { Scenario } from "./scenario.ts";

export const fuzz: Scenario[] = [
  {
    name: "40,000 hostile bodies",
    run: async (stand) => {
      const site = await stand.startSite();
      const joined = await sendHostileBodies(site.url, stand.query, 400);
      assert.equal(site.stderr(), "");
      return `no 5xx, no stack; ${joined.toLocaleString("en")} were stored, each as it was sent`;
    },
  },
];
