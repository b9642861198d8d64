// Medians and spreads of rounds in which two contestants take turns.

export interface Sample {
  median: number;
  /** Half of the range, as a share of the median. */
  spread: number;
}

export function summarise(values: number[]): Sample {
  const sorted = values.toSorted((a, b) => a - b) as [number, ...number[]];
  const at = (share: number) => sorted[Math.floor((sorted.length - 1) * share)] as number;
  const upper = sorted[Math.floor(sorted.length / 2)] as number;
  const median = (at(0.5) + upper) / 2;
  return { median, spread: (at(1) - at(0)) / 2 / median };
}

/** Compares round by round, so that both have the same noise of the machine. */
export function ratio(ours: number[], theirs: number[]): Sample {
  return summarise(ours.map((value, round) => value / (theirs[round] as number)));
}

/** Measures both once in each round, every other round in the opposite order. */
export async function takeTurns(
  rounds: number,
  measure: { ours: () => Promise<number>; theirs: () => Promise<number> },
): Promise<{ ours: number[]; theirs: number[] }> {
  const values = { ours: [] as number[], theirs: [] as number[] };
  for (let round = 1; round <= rounds; round++) {
    for (const name of round % 2 ? (["theirs", "ours"] as const) : (["ours", "theirs"] as const))
      values[name].push(await measure[name]());
  }
  return values;
}
