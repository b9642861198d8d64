// An unexpected console.error or console.warn fails its test.
import { afterEach, beforeEach, vi } from "vitest";

beforeEach(() => {
  vi.spyOn(console, "error");
  vi.spyOn(console, "warn");
});

afterEach(() => {
  const calls = [...vi.mocked(console.error).mock.calls, ...vi.mocked(console.warn).mock.calls];
  vi.restoreAllMocks();
  if (calls.length > 0) throw new Error(`The console was used: ${JSON.stringify(calls)}`);
});
