// Whether the time of an answer tells what kind of address was sent: new ones, known ones and flagged ones in turn.
import { Agent, request } from "node:http";
import { createFilledDatabase } from "./signups.ts";
import { startSite, type Bench } from "./measure.ts";
import { ratio, summarise } from "./statistics.ts";
import type { Row } from "./table.ts";

/** How often each kind is sent in a round, of which the median counts. */
const perRound = 50;

const kinds = {
  new: (i: number) => ({ email: `new.${i}@example.com` }),
  known: () => ({ email: "known@example.com" }),
  "hidden field": (i: number) => ({ email: `bot.${i}@example.com`, message: "Buy" }),
  "throw-away": (i: number) => ({ email: `ada.${i}@mailinator.com` }),
};
type Kind = keyof typeof kinds;

export async function measureSecrecy(bench: Bench): Promise<Row[]> {
  const { plan, postgres, say } = bench;
  const site = await startSite(bench, await createFilledDatabase(postgres, 1, "secrecy"));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const names = Object.keys(kinds) as Kind[];
  const medians = Object.fromEntries(names.map((kind) => [kind, []])) as unknown as Record<Kind, number[]>;
  let sent = 0;
  for (let round = 0; round <= plan.rounds * 4; round++) {
    if (round % 10 === 0) say(`kinds of addresses, round ${round} of ${plan.rounds * 4}`);
    const times = Object.fromEntries(names.map((kind) => [kind, []])) as unknown as Record<Kind, number[]>;
    for (let i = 0; i < perRound; i++) {
      // Each comes first as often as any other.
      for (let turn = 0; turn < names.length; turn++) {
        const kind = names[(turn + i) % names.length] as Kind;
        times[kind].push(
          await answerTime(site.url, agent, { name: "Ada", company: "Engines", ...kinds[kind](sent++) }),
        );
      }
    }
    if (round === 0) continue; // Warms up.
    for (const kind of names) medians[kind].push(summarise(times[kind]).median);
  }
  agent.destroy();
  await site.stop();
  const microseconds = (kind: Kind) => `${Math.round(summarise(medians[kind]).median * 1000)} µs`;
  return names.slice(1).map((kind) => ({
    what: `answer to an address: ${kind}`,
    ours: microseconds(kind),
    reference: `new ${microseconds("new")}`,
    ratio: ratio(medians[kind], medians.new),
  }));
}

/** In milliseconds, from the first byte that is sent to the last that comes back. */
function answerTime(url: string, agent: Agent, entry: object): Promise<number> {
  return new Promise((resolve, reject) => {
    const body = JSON.stringify(entry);
    const headers = { "Content-Type": "application/json", "Content-Length": body.length };
    const began = performance.now();
    const sent = request(`${url}/api/earlyaccess`, { method: "POST", agent, headers }, (response) => {
      if (response.statusCode !== 201) reject(new Error(`${body} got ${response.statusCode}`));
      response.resume().once("end", () => resolve(performance.now() - began));
    });
    sent.once("error", reject).end(body);
  });
}
