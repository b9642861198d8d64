// A progress bar on stderr, if stderr is a terminal.

const barWidth = 30;
/** In milliseconds. */
const redrawMs = 100;

export interface Progress {
  advance: (by: number) => void;
  /** Clears the bar. */
  end: () => void;
}

/** Without a total, the bar is only a count. */
export function showProgress(what: string, total?: number): Progress {
  if (!process.stderr.isTTY) return { advance: () => undefined, end: () => undefined };
  let done = 0;
  let drawnAt = 0;
  return {
    advance: (by) => {
      done += by;
      if (performance.now() - drawnAt < redrawMs) return;
      drawnAt = performance.now();
      process.stderr.write(`\r\u001B[K${what} ${drawProgress(done, total)}`);
    },
    end: () => void process.stderr.write("\r\u001B[K"),
  };
}

/** For example "█████░░░░░  50 % of 2,000". */
export function drawProgress(done: number, total?: number): string {
  if (!total) return count(done);
  const share = Math.min(1, done / total);
  const full = Math.round(share * barWidth);
  return `${"█".repeat(full)}${"░".repeat(barWidth - full)} ${Math.floor(share * 100)} % of ${count(total)}`;
}

/** 1234567 as 1,234,567. */
export function count(number: number): string {
  return number.toLocaleString("en");
}

/** For example "1 entry", "2,000 entries". */
export function countEntries(number: number): string {
  return `${count(number)} ${number === 1 ? "entry" : "entries"}`;
}

/** For example "1 person", "2,000 people". */
export function countPeople(number: number): string {
  return `${count(number)} ${number === 1 ? "person" : "people"}`;
}
