// Measures whether response times reveal who is on the list: sign-ups of new and known addresses in turn, and their undoing.
import { once } from "node:events";
import { Agent, request, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import type { Site } from "../support/run.ts";
import { median, medianRatio, verdict, type Bench, type Row } from "./measure.ts";

/** Requests of each kind in a round, whose median counts. */
const perRound = 50;
/** The allowed distance of the median time of a known address from that of a new one. */
const tolerance = 0.03;

const emails = { new: (i: number) => `new.${i}@example.com`, known: () => "known@example.com" };
const kinds = ["new", "known"] as const;
const actions = ["join", "undo"] as const;

/** In milliseconds. */
type Times = Record<(typeof actions)[number], Record<(typeof kinds)[number], number[]>>;
const noTimes = (): Times => ({ join: { new: [], known: [] }, undo: { new: [], known: [] } });

export async function measureSecrecy({ rounds }: Bench, site: Site): Promise<Row[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const signUp = (email: string) =>
    post(`${site.url}/api/earlyaccess`, agent, { name: "Ada", company: "Engines", email });
  await signUp(emails.known());
  const medians = noTimes();
  for (let round = 0; round <= rounds * 4; round++) {
    const times = noTimes();
    for (let i = 0; i < perRound; i++) {
      // Each kind comes first as often as the other.
      for (const kind of i % 2 ? kinds : kinds.toReversed()) {
        const joined = await signUp(emails[kind](round * perRound + i));
        times.join[kind].push(joined.ms);
        // A token of a known address has no effect.
        const { undo } = JSON.parse(joined.text) as { undo: string };
        times.undo[kind].push((await post(`${site.url}/leave?token=${undo}`, agent)).ms);
      }
    }
    if (round === 0) continue; // Warm-up.
    for (const action of actions) for (const kind of kinds) medians[action][kind].push(median(times[action][kind]));
  }
  agent.destroy();
  return actions.map((action) => {
    const { known, new: unknown } = medians[action];
    const ratio = medianRatio(known, unknown);
    const [ours, theirs] = [known, unknown].map((times) => `${Math.round(median(times) * 1000)} µs`);
    const result = verdict(`1 ± ${tolerance}`, Math.abs(ratio - 1) <= tolerance);
    return [`response to a known address (${action})`, `${ours}`, `new address ${theirs}`, ratio.toFixed(2), result];
  });
}

/** Resolves with the body, and the milliseconds from the first byte sent to the last received. */
async function post(url: string, agent: Agent, entry?: object): Promise<{ text: string; ms: number }> {
  const body = entry ? JSON.stringify(entry) : "";
  const headers = { "Content-Type": "application/json", "Content-Length": body.length };
  const began = performance.now();
  const sent = request(url, { method: "POST", agent, headers }).end(body);
  const [response] = (await once(sent, "response")) as [IncomingMessage];
  const received = await text(response);
  const ms = performance.now() - began;
  if (response.statusCode !== (entry ? 201 : 200)) throw new Error(`${url} got ${response.statusCode}`);
  return { text: received, ms };
}
