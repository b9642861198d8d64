// Whether response times reveal if an address is on the list: sign-ups of new, known and flagged addresses in turn, and undoing them.
import { Agent, request } from "node:http";
import type { Site } from "../support/site.ts";
import type { Bench, Row } from "./measure.ts";
import { ratio, summarise } from "./statistics.ts";

/** How often each kind is sent in a round, of which the median counts. */
const perRound = 50;
/** How far the median time of a known address may be from that of a new one. Who sends a flagged one knows it already. */
const tolerance = 0.03;

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
  const medians: Record<"join" | "undo", Record<string, number[]>> = { join: {}, undo: {} };
  const signUp = (entry: object) =>
    post(`${site.url}/api/earlyaccess`, agent, 201, { name: "Ada", company: "Engines", ...entry });
  await signUp({ email: "known@example.com" });
  let sent = 0;
  for (let round = 0; round <= rounds * 4; round++) {
    const times: typeof medians = { join: {}, undo: {} };
    for (let i = 0; i < perRound * names.length; i++) {
      // Each kind comes first as often as any other.
      const kind = names[(i + Math.floor(i / names.length)) % names.length] as string;
      const joined = await signUp(kinds[kind]?.(sent++) ?? {});
      (times.join[kind] ??= []).push(joined.ms);
      // A token of a known address has no effect.
      const { undo } = JSON.parse(joined.text) as { undo: string };
      (times.undo[kind] ??= []).push((await post(`${site.url}/leave?token=${undo}`, agent, 200)).ms);
    }
    if (round === 0) continue; // Warm-up.
    for (const what of ["join", "undo"] as const) {
      for (const kind of names) (medians[what][kind] ??= []).push(summarise(times[what][kind] ?? []).median);
    }
  }
  agent.destroy();
  return (["join", "undo"] as const).flatMap((what) => describe(what, medians[what], names.slice(1)));
}

function describe(what: string, medians: Record<string, number[]>, names: string[]): Row[] {
  const format = (kind: string) => `${Math.round(summarise(medians[kind] ?? []).median * 1000)} µs`;
  return names.map((kind) => {
    const share = ratio(medians[kind] ?? [], medians.new ?? []);
    return {
      what: `response to an address (${what}): ${kind}`,
      ours: format(kind),
      reference: `new ${format("new")}`,
      ratio: share,
      ...(kind === "known" && { budget: { text: `1 ± ${tolerance}`, holds: Math.abs(share.median - 1) <= tolerance } }),
    };
  });
}

/** Resolves with the body, and the milliseconds from the first byte sent to the last received. */
function post(url: string, agent: Agent, status: number, entry?: object): Promise<{ text: string; ms: number }> {
  return new Promise((resolve, reject) => {
    const body = entry ? JSON.stringify(entry) : "";
    const headers = { "Content-Type": "application/json", "Content-Length": body.length };
    const began = performance.now();
    const sent = request(url, { method: "POST", agent, headers }, (response) => {
      if (response.statusCode !== status) reject(new Error(`${url} got ${response.statusCode}`));
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => (text += part));
      response.once("end", () => resolve({ text, ms: performance.now() - began }));
    });
    sent.once("error", reject).end(body);
  });
}
