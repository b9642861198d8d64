// Postgres ends the rows of a CSV with LF; RFC 4180 wants CRLF.
import { Transform } from "node:stream";

const quote = 0x22;
const lf = 0x0a;
const cr = 0x0d;

/**
 * Ends rows with CRLF; a line feed within quotes is somebody's text and stays.
 * @param onRows how many rows each chunk held.
 */
export function endRowsWithCrlf(onRows: (rows: number) => void): Transform {
  let quoted = false;
  return new Transform({
    transform(chunk: Buffer, _, done) {
      const output = Buffer.allocUnsafe(chunk.length * 2);
      let length = 0;
      let rows = 0;
      // By index: an iterator makes the export a third slower.
      for (let i = 0; i < chunk.length; i++) {
        const byte = chunk[i] as number;
        // A doubled quote leaves the quotes and enters them again.
        if (byte === quote) quoted = !quoted;
        else if (byte === lf && !quoted) {
          output[length++] = cr;
          rows++;
        }
        output[length++] = byte;
      }
      onRows(rows);
      done(null, output.subarray(0, length));
    },
  });
}
