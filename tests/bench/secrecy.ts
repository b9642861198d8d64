// Whether response times reveal if an address is on the list: new, known and flagged addresses in turn.
import { Agent, request } from "node:http";
import type { Site } from "../support/site.ts";
import type { Bench, Row } from "./measure.ts";
import { ratio, summarise } from "./statistics.ts";

/** How often each kind is sent in a round, of which the median counts. */
const perRound = 50;

const kinds: Record<string, (i: number) => object> = {
  new: (i) => ({ email: `new.${i}@example.com` }),
  known: () => ({ email: "known@example.com" }),
  "bot's hidden field": (i) => ({ email: `bot.${i}@example.com`, message: "Buy" }),
  disposable: (i) => ({ email: `ada.${i}@mailinator.com` }),
};

export async function measureSecrecy({ rounds, say }: Bench, site: Site): Promise<Row[]> {
  say("response times by kind of address");
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const names = Object.keys(kinds);
  const medians: Record<string, number[]> = {};
  let sent = 0;
  for (let round = 0; round <= rounds * 4; round++) {
    const times: Record<string, number[]> = {};
    for (let i = 0; i < perRound * names.length; i++) {
      // Each kind comes first as often as any other.
      const kind = names[(i + Math.floor(i / names.length)) % names.length] as string;
      const body = { name: "Ada", company: "Engines", ...kinds[kind]?.(sent++) };
      (times[kind] ??= []).push(await responseTime(site.url, agent, body));
    }
    if (round === 0) continue; // Warm-up.
    for (const kind of names) (medians[kind] ??= []).push(summarise(times[kind] ?? []).median);
  }
  agent.destroy();
  const format = (kind: string) => `${Math.round(summarise(medians[kind] ?? []).median * 1000)} µs`;
  return names.slice(1).map((kind) => ({
    what: `response to an address: ${kind}`,
    ours: format(kind),
    reference: `new ${format("new")}`,
    ratio: ratio(medians[kind] ?? [], medians.new ?? []),
  }));
}

/** In milliseconds, from the first byte sent to the last received. */
function responseTime(url: string, agent: Agent, entry: object): Promise<number> {
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
