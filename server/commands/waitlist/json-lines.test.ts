import { buffer } from "node:stream/consumers";
import { Readable } from "node:stream";
import { expect, it } from "vitest";
import { toJsonLines } from "./json-lines.ts";

const columns = [
  { name: "name", isJson: false },
  { name: "flag", isJson: true },
  { name: "job", isJson: false },
];

it("makes the same lines wherever the text is cut", async () => {
  // As COPY writes it: what is special is escaped by a backslash, and NULL is \N.
  const copied = Buffer.from('Zoë \\\\ "C" 🚀\ttrue\t\\N\n\\\\N\tfalse\ttwo\\nlines \\v \u0001\n\t\\N\t\n');
  const lines = [
    String.raw`{"name":"Zoë \\ \"C\" 🚀","flag":true,"job":null}`,
    String.raw`{"name":"\\N","flag":false,"job":"two\nlines \u000b \u0001"}`,
    '{"name":"","flag":null,"job":""}\n',
  ].join("\n");
  for (let cut = 0; cut < copied.length; cut++) {
    let rows = 0;
    const chunks = Readable.from([copied.subarray(0, cut), copied.subarray(cut)]);
    const output = await buffer(chunks.pipe(toJsonLines(columns, (more) => (rows += more))));
    expect([output.toString(), rows]).toEqual([lines, 3]);
  }
});
