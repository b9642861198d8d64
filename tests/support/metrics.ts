// The built site with its metrics, and a reader of their format that takes nothing amiss.
import { once } from "node:events";
import { request } from "node:http";
import { freePort } from "./free-port.ts";
import { startSite, type Options, type Site } from "./site.ts";

export interface MeasuredSite extends Site {
  metricsUrl: string;
  /** What the metrics are now, by name and labels as they are written. */
  metrics(): Promise<Map<string, number>>;
}

export async function startMeasuredSite(options: Options = {}): Promise<MeasuredSite> {
  const port = await freePort();
  const site = await startSite({ ...options, env: { METRICS_PORT: String(port), ...options.env } });
  const metricsUrl = `http://127.0.0.1:${port}/metrics`;
  return { ...site, metricsUrl, metrics: async () => readExposition(await (await fetch(metricsUrl)).text()) };
}

/** Resolves with the status, once the whole answer is there. */
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

const comment = /^# (HELP|TYPE) ([a-zA-Z_:][\w:]*) (.+)$/;
const sample =
  /^([a-zA-Z_:][\w:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\]|\\[\\n"])*",?)*)\})? ([+-]?(?:[\d.e+-]+|Inf|NaN?))$/i;
const types = /^(counter|gauge|histogram|summary|untyped)$/;

/**
 * Prometheus' text format 0.0.4: https://prometheus.io/docs/instrumenting/exposition_formats/
 * @throws where a line is not of the format, a value has no type or stands there twice.
 */
function readExposition(text: string): Map<string, number> {
  if (!text.endsWith("\n")) throw new Error("The last line has no end.");
  const typed = new Map<string, string>();
  const values = new Map<string, number>();
  for (const line of text.split("\n").filter(Boolean)) {
    const [, keyword, about = "", rest = ""] = comment.exec(line) ?? [];
    const [, name = "", labels = "", value = ""] = sample.exec(line) ?? [];
    if (keyword === "TYPE" && types.test(rest) && !typed.has(about)) typed.set(about, rest);
    else if (keyword === "HELP") continue;
    else if (name && isDeclared(name, typed) && !values.has(`${name}{${labels}}`))
      values.set(`${name}{${labels}}`, Number(value.replace(/inf$/i, "Infinity")));
    else throw new Error(`Not of the format: ${line}`);
  }
  return values;
}

function isDeclared(name: string, typed: Map<string, string>): boolean {
  return typed.has(name) || typed.get(name.replace(/_(bucket|sum|count)$/, "")) === "histogram";
}
