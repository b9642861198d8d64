// The text of the progress bar.
import { expect, it } from "vitest";
import { drawProgress } from "./progress.ts";

it("draws the share of the total", () => {
  expect(drawProgress(0, 2_000)).toBe(`${"░".repeat(30)} 0 % of 2,000`);
  expect(drawProgress(1_000, 2_000)).toBe(`${"█".repeat(15)}${"░".repeat(15)} 50 % of 2,000`);
  expect(drawProgress(1_999, 2_000)).toBe(`${"█".repeat(30)} 99 % of 2,000`);
  expect(drawProgress(3_000, 2_000)).toBe(`${"█".repeat(30)} 100 % of 2,000`);
});

it("shows only the count if the total is unknown", () => {
  expect(drawProgress(1_234_567)).toBe("1,234,567");
});
