// The contrast of every pair of colours that meet on the page, computed from the tokens (WCAG 2.2, 1.4.3 and 1.4.11).
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectRoot } from "../server/project-root.ts";

const css = readFileSync(join(projectRoot, "client/tokens.css"), "utf8");
const [lightCss, darkCss] = css.split("@media (prefers-color-scheme: dark)") as [string, string];

function colours(source: string): Record<string, string> {
  return Object.fromEntries(
    [...source.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, value]) => [name, value]),
  );
}

const light = colours(lightCss);
const themes = { light, dark: { ...light, ...colours(darkCss) } };

/** Relative luminance as WCAG defines it. */
function luminance(colour: string): number {
  const [r, g, b] = [1, 3, 5].map((at) => {
    const channel = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: string, b: string): number {
  const [dark, bright] = [luminance(a), luminance(b)].toSorted((x, y) => x - y) as [number, number];
  return (bright + 0.05) / (dark + 0.05);
}

/** Foreground on background; 4.5 for text, 3 for the outlines of controls and for what is only drawn. */
const pairs: [string, string, number][] = [
  ["ink", "paper", 4.5],
  ["ink", "surface", 4.5],
  ["ink", "mint", 4.5],
  ["ink-soft", "paper", 4.5],
  ["ink-soft", "surface", 4.5],
  ["ink-soft", "mint", 4.5],
  ["leaf", "paper", 4.5],
  ["leaf", "surface", 4.5],
  ["leaf", "mint", 4.5],
  ["on-leaf", "leaf", 4.5],
  ["on-leaf", "leaf-strong", 4.5],
  ["on-bed", "bed", 4.5],
  ["on-bed-soft", "bed", 4.5],
  ["code-call", "bed", 4.5],
  ["code-result", "bed", 4.5],
  ["bloom", "bed", 4.5],
  ["on-bloom", "bloom", 4.5],
  ["surface", "ink", 4.5],
  ["error", "surface", 4.5],
  ["error", "error-tint", 4.5],
  ["ink", "error-tint", 4.5],
  ["control", "surface", 3],
  ["control", "paper", 3],
];

describe.each(Object.entries(themes))("in the %s theme", (_, theme) => {
  it.each(pairs)("%s on %s has at least %d", (foreground, background, least) => {
    expect(contrast(theme[foreground] as string, theme[background] as string)).toBeGreaterThanOrEqual(least);
  });
});

it("the browser's own bars have the colours of the page", () => {
  const html = readFileSync(join(projectRoot, "client/index.html"), "utf8");
  const bars = [
    ...html.matchAll(/name="theme-color" content="(#[0-9a-f]{6})" media="\(prefers-color-scheme: (\w+)\)"/g),
  ];
  const expected = Object.entries(themes).map(([theme, { paper }]) => [paper, theme]);
  expect(bars.map(([, colour, theme]) => [colour, theme])).toEqual(expected);
});
