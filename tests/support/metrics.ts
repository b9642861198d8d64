// The built site with its metrics, and a reader of their format.
import { once } from "node:events";
import { request } from "node:http";
import { freePort } from "../../server/http/listen.ts";
import { startSite, type Options, type Site } from "./site.ts";

export interface MeasuredSite extends Site {
  metricsUrl: string;
  /** The current metrics by name and labels, such as `perennial_ready{}`. */
  metrics(): Promise<Map<string, number>>;
}

export async function startMeasuredSite(options: Options = {}): Promise<MeasuredSite> {
  const port = await freePort();
  const site = await startSite({ ...options, env: { METRICS_PORT: String(port), ...options.env } });
  const metricsUrl = `http://127.0.0.1:${port}/metrics`;
  return { ...site, metricsUrl, metrics: async () => readExposition(await (await fetch(metricsUrl)).text()) };
}

/** Resolves with the status after the whole response. */
export async function ask(
  { url }: Pick<Site, "url">,
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: string,
): Promise<number> {
  const sent = request(url + path, { method, headers, agent: false }).end(body);
  const [response] = await once(sent, "response");
  await once(response.resume(), "close");
  return response.statusCode;
}

export const json = { "Content-Type": "application/json" };

export function signUp(site: Site, entry: object | string, headers: Record<string, string> = {}): Promise<number> {
  return ask(site, "POST", "/api/earlyaccess", { ...json, ...headers }, JSON.stringify(entry));
}

/** Reads Prometheus' text format. @throws if a line has another format or a sample is repeated. */
export function readExposition(text: string): Map<string, number> {
  const values = new Map<string, number>();
  for (const line of text.split("\n").filter((one) => one !== "" && !one.startsWith("# "))) {
    const [, name = "", labels = "{}", value = ""] = /^([a-zA-Z_:][\w:]*)(\{.*\})? (\S+)$/.exec(line) ?? [];
    const key = name + labels;
    if (!name || values.has(key)) throw new Error(`Not a valid sample: ${line}`);
    values.set(key, Number(value.replace(/inf$/i, "Infinity")));
  }
  return values;
}
