// What holds for every test. An unexpected console.error or console.warn fails it, and so does a person's or client's address in the log of a program.
import { afterEach, beforeEach, vi } from "vitest";
import { outputs, within } from "./run.ts";

/**
 * People of tests have addresses of example.com, and clients those that RFC 5737 keeps for documents. The line of a request must not
 * name the loopback address either, from which the tests' own requests come.
 */
const personal =
  /^\{"level"(?:.*(?:(?:@|%40)example\.|\b203\.0\.113\.|\b198\.51\.100\.)|.*(?:\b127\.0\.0\.1\b|::1\b).*"msg":"request).*/m;

beforeEach(() => {
  vi.spyOn(console, "error");
  vi.spyOn(console, "warn");
  const { fetch } = globalThis;
  vi.spyOn(globalThis, "fetch").mockImplementation((input, init) =>
    within(`the response of ${input instanceof Request ? input.url : input}`, fetch(input, init)),
  );
});

afterEach(() => {
  const calls = [...vi.mocked(console.error).mock.calls, ...vi.mocked(console.warn).mock.calls];
  vi.restoreAllMocks();
  const lines = Array.from(outputs, (read) => personal.exec(read())?.[0]).filter(Boolean);
  if (lines.length > 0) outputs.clear(); // One failed test is enough.
  if (calls.length > 0) throw new Error(`The console was used: ${JSON.stringify(calls)}`);
  if (lines.length > 0) throw new Error(`A log has an address: ${lines.join("\n")}`);
});
