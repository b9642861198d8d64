// Makes lines of another format of the text that Postgres' COPY writes. Nearly all cells are the same there, so this costs
// less than a format of Postgres' own, and Postgres reads on meanwhile.
import { Transform } from "node:stream";

export interface Column {
  /** In SQL. */
  select: string;
  /** What stands for NULL. */
  nothing: string;
  before: string;
  after: string;
  /**
   * Makes what stands for a cell as COPY wrote it, each character a byte; not called where the cell is plain. Without it every
   * cell stands as it is.
   */
  encode?: (copied: string) => string;
}

export interface LineFormat {
  /** Comes once. */
  header: string;
  /** In the order in which they are copied. */
  columns: Column[];
}

const tab = 0x09;
const lf = 0x0a;
const backslash = 0x5c;
const letterN = 0x4e;

const allBytes = Array.from({ length: 256 }, (_, byte) => byte);
/** Where one of these is in a cell, some format writes it in another way. */
const special = allBytes.map((byte) => byte < 0x20 || '",;\\'.includes(String.fromCharCode(byte)));
/** The first byte of a full-width character in UTF-8. */
const fullWidth = 0xef;
/** The same, of the first byte; a tab or a line's end says that the cell is empty. */
const specialFirst = allBytes.map(
  (byte) => special[byte] || byte === fullWidth || "'=+-@".includes(String.fromCharCode(byte)),
);

const controls: Record<string, string> = { b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v" };

/** The text that COPY wrote as this. */
export function unescape(text: string): string {
  return text.replaceAll(/\\(.)/gs, (_, after: string) => controls[after] ?? after);
}

/** @param onRows how many rows each chunk held. */
export function toLines({ header, columns }: LineFormat, onRows: (rows: number) => void): Transform {
  const write = createWriter(columns);
  // In bytes for each: at the worst it becomes an escape of six, or is the end of an empty cell.
  const widest = Math.max(6, ...columns.map((cell) => cell.before.length + cell.nothing.length + cell.after.length));
  let head = Buffer.from(header);
  let rest: Buffer = Buffer.alloc(0);
  let draft: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const input = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      const end = input.lastIndexOf(lf) + 1;
      rest = input.subarray(end);
      // Kept, so that each chunk only costs what it has.
      const worst = head.length + end * widest;
      if (draft.length < worst) draft = Buffer.allocUnsafe(worst);
      const { length, rows } = write(input.subarray(0, end), draft, put(head, draft, 0));
      onRows(rows);
      head = head.subarray(0, 0);
      done(null, Buffer.from(draft.subarray(0, length)));
    },
    flush: (done) => done(null, head),
  });
}

/** @returns what writes whole rows to its second argument from the third on, and returns where they end and how many they are. */
function createWriter(columns: Column[]) {
  const cells = columns.map(({ nothing, before, after, encode }) => ({
    nothing: Buffer.from(nothing),
    before: Buffer.from(before),
    after: Buffer.from(after),
    encode,
  }));
  return (input: Buffer, output: Buffer, at: number) => {
    let length = at;
    let rows = 0;
    for (let i = 0; i < input.length; rows++) {
      for (const { nothing, before, after, encode } of cells) {
        if (input[i] === backslash && input[i + 1] === letterN) {
          length = put(nothing, output, length);
          i += 3;
          continue;
        }
        length = put(before, output, length);
        const from = i;
        const to = length;
        let isPlain = !specialFirst[input[i] as number];
        for (let byte = input[i++] as number; byte !== tab && byte !== lf; byte = input[i++] as number) {
          if (special[byte]) isPlain = false;
          output[length++] = byte;
        }
        if (encode && !isPlain) {
          length = to + output.write(encode(input.toString("latin1", from, i - 1)), to, "latin1");
        }
        length = put(after, output, length);
      }
    }
    return { length, rows };
  };
}

/** Byte by byte: for so few of them the call of a copy takes longer. */
function put(bytes: Buffer, output: Buffer, at: number): number {
  const { length } = bytes;
  for (let i = 0; i < length; i++) output[at + i] = bytes[i] as number;
  return at + length;
}
