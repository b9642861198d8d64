import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { parse } from "csv-parse/sync";
import fc from "fast-check";
import { expect, it } from "vitest";
import { toLines, type LineFormat } from "./copied-rows.ts";
import { formats } from "./export-format.ts";
import { guard } from "./spreadsheet-cell.ts";

const { csv, ndjson } = formats as Record<"csv" | "ndjson", LineFormat>;
const time = '"2026-01-02T03:04:05.6+00:00"';

/** As COPY writes it: what is special is escaped by a backslash, and NULL is \\N. */
function copied(texts: string[], sources: string[], flag: string): string {
  return [...texts, "waiting", time, flag, flag, flag, ...sources, "id"].join("\t") + "\n";
}

async function expectLines(format: LineFormat, input: string, lines: string): Promise<void> {
  const bytes = Buffer.from(input);
  for (let cut = 0; cut < bytes.length; cut++) {
    let rows = 0;
    const chunks = Readable.from([bytes.subarray(0, cut), bytes.subarray(cut)]);
    const output = await buffer(chunks.pipe(toLines(format, (more) => (rows += more))));
    expect([output.toString(), rows]).toEqual([lines, 3]);
  }
}

const rows = (flag: string) =>
  [
    copied(["Zoë \\\\ 🚀", "a,b", "", "\\N"], [String.raw`two\nlines`, '"', "\\N", "\\N", "\\N", "\\N"], flag),
    copied(["=1", "+1", "'-1", "'"], ["@", String.raw`\tx`, String.raw`\rx,`, String.raw`\\N`, " =", "x="], flag),
    copied(["O'Neill", "a@b", "1-1", "\u0001"], ["é", String.raw`\v`, "\\N", "", "\\N", ""], flag),
  ].join("");

it("makes the same CSV wherever the text is cut", async () => {
  const lines = [
    csv.header.trimEnd(),
    String.raw`Zoë \ 🚀,"a,b","",,waiting,2026-01-02T03:04:05.600Z,t,t,t,"two${"\n"}lines","""",,,,,id`,
    String.raw`'=1,'+1,''-1,',waiting,2026-01-02T03:04:05.600Z,t,t,t,'@,'${"\t"}x,"'${"\r"}x,",\N, =,x=,id`,
    'O\'Neill,a@b,1-1,\u0001,waiting,2026-01-02T03:04:05.600Z,t,t,t,é,\v,,"",,"",id\r\n',
  ].join("\r\n");
  await expectLines(csv, rows("t"), lines);
});

/** COPY and JSON escape these alike. */
const escape = (text: string) =>
  text.replaceAll(/[\\\b\f\n\r\t]/g, (character) => JSON.stringify(character).slice(1, -1));
const unit = fc.oneof(
  fc.constantFrom(...Array.from("'\",;\t\r\n\\=+-@＝＋－＠ï¼a")),
  fc.string({ unit: "grapheme", maxLength: 1 }),
);

it("guards every text in CSV", async () => {
  const property = fc.asyncProperty(fc.array(fc.string({ unit }), { minLength: 4, maxLength: 4 }), async (texts) => {
    const row = Buffer.from(copied(texts.map(escape), ["", "", "", "", "", ""], "t"));
    const output = await buffer(Readable.from([row]).pipe(toLines(csv, () => undefined)));
    const [, cells] = parse(output) as [string[], string[]];
    expect(cells.slice(0, 4)).toEqual(texts.map(guard));
  });
  await fc.assert(property, { numRuns: 2_000 });
});

it("makes the same JSON lines wherever the text is cut", async () => {
  const line = (texts: string, sources: string) =>
    `{${texts},"status":"waiting","created_at":${time},"suspected_spam":true,"disposable_email":true,"unusual_volume":true,${sources},"id":"id"}\n`;
  const lines = [
    line(
      String.raw`"name":"Zoë \\ 🚀","email":"a,b","company":"","job_title":null`,
      String.raw`"utm_source":"two\nlines","utm_medium":"\"","utm_campaign":null,"utm_term":null,"utm_content":null,"referrer_host":null`,
    ),
    line(
      `"name":"=1","email":"+1","company":"'-1","job_title":"'"`,
      String.raw`"utm_source":"@","utm_medium":"\tx","utm_campaign":"\rx,","utm_term":"\\N","utm_content":" =","referrer_host":"x="`,
    ),
    line(
      String.raw`"name":"O'Neill","email":"a@b","company":"1-1","job_title":"\u0001"`,
      String.raw`"utm_source":"é","utm_medium":"\u000b","utm_campaign":null,"utm_term":"","utm_content":null,"referrer_host":""`,
    ),
  ].join("");
  await expectLines(ndjson, rows("true"), lines);
});

it.each([
  ['"2026-01-02T03:04:05+00:00"', "2026-01-02T03:04:05.000Z"],
  ['"2026-01-02T03:04:05.06+00:00"', "2026-01-02T03:04:05.060Z"],
  ['"2026-01-02T03:04:05.006+00:00"', "2026-01-02T03:04:05.006Z"],
  ['"infinity"', ""],
])("writes the time %s in CSV as %j", (copiedTime, written) => {
  expect(csv.columns[5]?.encode?.(copiedTime)).toBe(written);
});

it("begins CSV with its header, and an empty list is that alone", async () => {
  const output = async (format: LineFormat) => buffer(Readable.from([]).pipe(toLines(format, () => undefined)));
  expect((await output(csv)).toString()).toBe(csv.header);
  expect((await output(ndjson)).toString()).toBe("");
});
