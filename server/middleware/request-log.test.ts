// The log line of a request.
import { pino } from "pino";
import request from "supertest";
import { expect, it } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";

it("the request log logs requests of health probes at the level debug, and others at info", async () => {
  const lines: string[] = [];
  const log = pino({ level: "debug" }, { write: (line: string) => void lines.push(line) });
  const site = await createTestApp(noDatabase, { log, isReady: async () => true });
  for (const path of ["/healthz", "/readyz?x", "/", "/nope"]) await request(site.app).get(path);
  const logged = lines.map((line) => JSON.parse(line) as { level: number; path: string });
  expect(logged.map(({ level, path }) => [path, level])).toEqual([
    ["/healthz", 20],
    ["/readyz", 20],
    ["/", 30],
    ["/nope", 30],
  ]);
  await site.close();
});
