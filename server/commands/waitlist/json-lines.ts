// Makes JSON lines of the text that Postgres' COPY writes. The two are so alike that this costs less than row_to_json,
// and Postgres reads on meanwhile.
import { Transform } from "node:stream";

export interface JsonColumn {
  name: string;
  /** Whether the cells are JSON already, such as true; none of those may need a backslash. */
  isJson: boolean;
}

const tab = 0x09;
const lf = 0x0a;
const quote = 0x22;
const letterN = 0x4e;
const backslash = 0x5c;
const letterV = 0x76;

const escape = (byte: number) => Buffer.from(`\\u${byte.toString(16).padStart(4, "0")}`);
const allBytes = Array.from({ length: 256 }, (_, byte) => byte);

/** What JSON writes for what COPY writes after a backslash; but for \v it is the same. */
const escaped = allBytes.map((byte) => (byte === letterV ? escape(0x0b) : Buffer.from([backslash, byte])));
/** What JSON writes for a byte, where it is not the byte itself; of a backslash, the next byte decides. */
const special = allBytes.map((byte) => {
  if (byte === quote || byte === backslash) return escaped[byte];
  return byte < 0x20 ? escape(byte) : undefined;
});
/** In bytes. */
const longestEscape = 6;

/**
 * @param columns in the order in which COPY writes them.
 * @param onRows how many rows each chunk held.
 */
export function toJsonLines(columns: JsonColumn[], onRows: (rows: number) => void): Transform {
  const write = createWriter(columns);
  const emptyRow = columns.reduce((length, { name }) => length + `,"${name}":null`.length, "{}\n".length);
  let rest: Buffer = Buffer.alloc(0);
  let draft: Buffer = Buffer.alloc(0);
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const input = rest.length > 0 ? Buffer.concat([rest, chunk]) : chunk;
      const end = input.lastIndexOf(lf) + 1;
      rest = input.subarray(end);
      let rows = 0;
      for (let at = input.indexOf(lf); at >= 0; at = input.indexOf(lf, at + 1)) rows++;
      onRows(rows);
      // For the worst case, which never comes: kept, so that each chunk only costs what it has.
      const worst = rows * emptyRow + end * longestEscape;
      if (draft.length < worst) draft = Buffer.allocUnsafe(worst);
      done(null, Buffer.from(draft.subarray(0, write(input.subarray(0, end), draft))));
    },
  });
}

/** @returns what puts whole rows as JSON into its second argument, and returns how many bytes that is. */
function createWriter(columns: JsonColumn[]): (rows: Buffer, output: Buffer) => number {
  const cells = columns.map(({ name, isJson }, i) => {
    const key = `${i === 0 ? "{" : ","}"${name}":`;
    const last = i === columns.length - 1 ? "}\n" : "";
    return {
      nothing: Buffer.from(`${key}null${last}`),
      before: Buffer.from(isJson ? key : `${key}"`),
      after: Buffer.from(isJson ? last : `"${last}`),
      isJson,
    };
  });
  return (rows, output) => {
    let length = 0;
    let i = 0;
    while (i < rows.length) {
      for (const { nothing, before, after, isJson } of cells) {
        if (rows[i] === backslash && rows[i + 1] === letterN) {
          length = put(nothing, output, length);
          i += 3;
          continue;
        }
        length = put(before, output, length);
        for (let byte = rows[i++] as number; byte !== tab && byte !== lf; byte = rows[i++] as number) {
          const other = isJson ? undefined : special[byte];
          if (!other) output[length++] = byte;
          else length = put(byte === backslash ? (escaped[rows[i++] as number] as Buffer) : other, output, length);
        }
        length = put(after, output, length);
      }
    }
    return length;
  };
}

/** Byte by byte: for so few of them the call of a copy takes longer. */
function put(bytes: Buffer, output: Buffer, at: number): number {
  const { length } = bytes;
  for (let i = 0; i < length; i++) output[at + i] = bytes[i] as number;
  return at + length;
}
