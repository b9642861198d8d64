// Finds variables whose names look like misspelt ones of ours, which would have no effect.
import leven from "leven";
import { hints } from "./config-variables.ts";
import { printableName } from "./printable.ts";

const known = Object.keys(hints);
/** Marathon and other schedulers set these beside PORT. */
const foreign = /^PORT(S|\d+)$/;

/** Returns a sentence for each name that is probably a misspelt one, with the name that was meant; never a value. */
export function describeMisspelt(names: string[]): string[] {
  return names.flatMap((name) => {
    const meant = known.includes(name) || foreign.test(name) ? undefined : findNearest(name);
    return meant ? `${printableName(name)} is set but has no effect. Did you mean ${meant}?` : [];
  });
}

function findNearest(name: string): string | undefined {
  const [nearest] = known
    .filter((candidate) => Math.abs(candidate.length - name.length) <= mostEdits(candidate)) // Cheaper than a distance.
    .map((candidate) => ({ candidate, distance: measureDistance(name.toUpperCase(), candidate) }))
    .filter(({ candidate, distance }) => distance <= mostEdits(candidate))
    .toSorted((a, b) => a.distance - b.distance);
  return nearest?.candidate;
}

/** Returns the number of edits allowed. Short names allow one, as HOME is two from HOST. */
function mostEdits({ length }: string): number {
  return length < 6 ? 1 : 2;
}

/** Counts edits; letters in another order, as in PROT, are one. */
function measureDistance(name: string, candidate: string): number {
  const sorted = (text: string) => Array.from(text).toSorted().join("");
  const distance = leven(name, candidate);
  return distance > 1 && sorted(name) === sorted(candidate) ? 1 : distance;
}
