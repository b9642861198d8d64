// Requests that are built to be expensive: none holds the event loop for long enough to be noticed by anybody else.
import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { aboveLimit, limited, unlimited, type ExpensiveRequest } from "../support/expensive-requests.ts";
import type { Site } from "../support/site.ts";
import { welcomeVisitor } from "./crowd.ts";
import type { Scenario } from "./scenario.ts";

/** In milliseconds of processor time, which the event loop is blocked for at most; another process' load does not count. */
const budget = 50;
const attempts = 3;

export const expensiveRequests: Scenario[] = [
  {
    name: "single requests built to be expensive",
    run: async (stand) => {
      const site = await stand.startSite();
      const leave = welcomeVisitor(site);
      const costs: [number, string][] = [];
      for (const { name, bytes } of [...unlimited, ...aboveLimit, ...limited]) {
        const measured: number[] = [];
        for (let i = 0; i < attempts; i++) measured.push(await cost(site, { name, bytes }));
        // The least: the visitor's requests and the garbage collector's work count as well.
        costs.push([Math.min(...measured), name]);
      }
      const visits = await leave();
      const [most = [0, ""], next = [0, ""]] = costs.toSorted(([a], [b]) => b - a);
      assert(most[0] < budget, `"${most[1]}" takes ${most[0].toFixed(0)} ms`);
      const shown = [most, next].map(([ms, name]) => `${ms.toFixed(1)} ms (${name})`).join(", ");
      return `${costs.length} kinds, the most expensive ${shown}; ${visits}`;
    },
  },
];

/** Sends the request on a connection of its own. @returns what the site's main thread worked until shortly after its answer, in milliseconds. */
async function cost(site: Site, { bytes }: ExpensiveRequest): Promise<number> {
  const socket = connect(Number(new URL(site.url).port), "127.0.0.1");
  await once(socket, "connect");
  socket.on("error", () => undefined); // The site closes a connection whose body is too long.
  const before = mainThreadTime(site);
  socket.write(bytes);
  await Promise.race([once(socket, "data"), once(socket, "close")]);
  await sleep(20);
  const after = mainThreadTime(site);
  socket.destroy();
  return after - before;
}

function mainThreadTime({ process: { pid } }: Site): number {
  return Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, "utf8").split(" ")[0]) / 1e6;
}
