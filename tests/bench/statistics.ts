// Medians and spreads of rounds in which contestants take turns.

export interface Sample {
  median: number;
  /** Half of the way from the least to the most, as a share of the median. */
  spread: number;
}

export function summarise(values: number[]): Sample {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)], sorted[Math.floor(sorted.length / 2)]] as [
    number,
    number,
  ];
  const median = (middle[0] + middle[1]) / 2;
  return { median, spread: ((sorted.at(-1) as number) - (sorted[0] as number)) / 2 / median };
}

/** Compares round by round: what slows the machine down for a while slows down both. */
export function ratio(ours: number[], theirs: number[]): Sample {
  return summarise(ours.map((value, round) => value / (theirs[round] as number)));
}

/** Runs every contestant once in each round, every other round in the opposite order. */
export async function takeTurns<Name extends string>(
  rounds: number,
  contestants: Record<Name, () => Promise<number>>,
  progress: (round: number, name: Name) => void,
): Promise<Record<Name, number[]>> {
  const names = Object.keys(contestants) as Name[];
  const values = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (let round = 1; round <= rounds; round++) {
    for (const name of round % 2 ? names : names.toReversed()) {
      progress(round, name);
      values[name].push(await contestants[name]());
    }
  }
  return values;
}
