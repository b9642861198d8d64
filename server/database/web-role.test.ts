// The wait for the web role, against a server that closes or refuses each connection.
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { pino } from "pino";
import { expect, it, onTestFinished, vi } from "vitest";
import { until } from "../../tests/support/run.ts";
import { awaitWebRole } from "./web-role.ts";

it("the log names each new reason once, and the same one again after ten minutes", async () => {
  let connections = 0;
  let answer = "";
  const server = createServer((socket) => {
    connections++;
    socket.on("error", () => undefined).once("data", () => socket.end(answer, "latin1"));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = new AbortController();
  onTestFinished(() => (stop.abort(), void server.close()));
  const url = `postgresql://web:secret@127.0.0.1:${(server.address() as AddressInfo).port}/list`;
  const codes: unknown[] = [];
  const write = (line: string) => codes.push((JSON.parse(line) as { error: { code: string } }).error.code);
  const needs = { allowPrivilegedRole: false, statements: [] };
  void awaitWebRole(url, needs, pino({ base: null }, { write }), stop.signal, () => undefined, 10);
  const threeTimes = async () => {
    const before = connections;
    await until("three more attempts", () => connections > before + 3);
    return [...codes];
  };
  expect(await threeTimes()).toEqual(["CONNECTION_LOST"]);
  answer = "E\0\0\0\x1dSFATAL\0C57P03\0Mstarting\0\0";
  expect(await threeTimes()).toEqual(["CONNECTION_LOST", "57P03"]);
  answer = "";
  expect(await threeTimes()).toEqual(["CONNECTION_LOST", "57P03"]);
  const now = performance.now();
  vi.spyOn(performance, "now").mockReturnValue(now + 600_000);
  expect(await threeTimes()).toEqual(["CONNECTION_LOST", "57P03", "CONNECTION_LOST"]);
});
