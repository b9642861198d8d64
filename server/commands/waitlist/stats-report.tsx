// The HTML page of stats --html: totals, a chart of the sign-ups per day, and the tables of the terminal. React escapes every text.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an <img> would need another file */
import { renderToStaticMarkup } from "react-dom/server";
import { markPath, product } from "../../../client/shared/content.ts";
import { count } from "../command.ts";
import type { Figure, Figures } from "../../models/stats.ts";

/** Forbids scripts and requests, whatever a label holds. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export interface Table {
  /** The first one heads the labels of the rows. */
  headings: string[];
  rows: { label: string; cells: string[] }[];
}

export function renderReport(tables: Table[], figures: Figures, at: Date): string {
  return `<!doctype html>\n${renderToStaticMarkup(<Report tables={tables} figures={figures} at={at} />)}\n`;
}

function Report({ tables, figures, at }: { tables: Table[]; figures: Figures; at: Date }) {
  const { byDay, flagged } = figures;
  const time = at.toISOString();
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta httpEquiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>{`Early access – ${product.name}`}</title>
        <style dangerouslySetInnerHTML={{ __html: reportStyles }} />
      </head>
      <body>
        <header>
          <p>
            <svg className="mark" viewBox="4 3 24 26" aria-hidden="true">
              <path d={markPath} />
            </svg>
            {product.name}
          </p>
          <h1>Early access list</h1>
          {tables[0] ? <Totals table={tables[0]} /> : <p>No views and no sign-ups.</p>}
        </header>
        <main>
          {byDay.length > 0 && <Chart byDay={byDay} />}
          {tables.map((table) => (
            <TableOf key={table.headings[0]} table={table} />
          ))}
        </main>
        <footer>
          As of <time dateTime={time}>{time.slice(0, 16).replace("T", " ")} UTC</time>. Days are in UTC. Views are loads
          of the landing page, not visitors. The rate is sign-ups per view, without imported entries and without days on
          which no views were counted.
          {flagged > 0 && ` Not counted: ${count(flagged)} flagged entries.`}
        </footer>
      </body>
    </html>
  );
}

/** The last row of the first table. */
function Totals({ table: { headings, rows } }: { table: Table }) {
  return (
    <dl>
      {rows.at(-1)?.cells.map((cell, i) => (
        <div key={headings[i + 1]}>
          <dt>{headings[i + 1]}</dt>
          <dd>{cell}</dd>
        </div>
      ))}
    </dl>
  );
}

/** In days: wide columns for a new list, and visible ones on a phone. */
const [shortestChart, longestChart] = [14, 60];

/** The newest day is at the right edge; a day without sign-ups leaves a gap. All lengths are percentages, so that the chart fits every screen. */
function Chart({ byDay }: { byDay: Figure[] }) {
  const dayOf = (figure?: Figure) => Date.parse(figure?.label ?? "") / 86_400_000;
  const newest = dayOf(byDay[0]);
  const length = Math.min(longestChart, Math.max(shortestChart, newest - dayOf(byDay.at(-1)) + 1));
  const shown = byDay.filter((figure) => newest - dayOf(figure) < length);
  const most = Math.max(1, ...shown.map(({ signups }) => signups));
  const first = new Date((newest - length + 1) * 86_400_000).toISOString().slice(0, 10);
  return (
    <figure>
      <figcaption>
        <h2>Sign-ups per day</h2> <span>at most {count(most)}</span>
      </figcaption>
      <svg role="img" aria-label={`Sign-ups per day from ${first} to ${byDay[0]?.label}; the table has the figures`}>
        {shown.map((figure) => (
          <rect
            key={figure.label}
            x={`${(100 * (length - 1 - newest + dayOf(figure))) / length}%`}
            y={`${100 - (100 * figure.signups) / most}%`}
            width={`${80 / length}%`}
            height={`${(100 * figure.signups) / most}%`}
          >
            <title>{`${figure.label}: ${count(figure.signups)}`}</title>
          </rect>
        ))}
      </svg>
      <p>
        <span>{first}</span> <span>{byDay[0]?.label}</span>
      </p>
    </figure>
  );
}

function TableOf({ table: { headings, rows } }: { table: Table }) {
  return (
    <table>
      <thead>
        <tr>
          {headings.map((heading) => (
            <th key={heading} scope="col">
              {heading}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map(({ label, cells }) => (
          <tr key={label}>
            <th scope="row">
              <bdi>{label}</bdi>
            </th>
            {cells.map((cell, i) => (
              <td key={headings[i + 1]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** With the colours of client/tokens.css. */
const reportStyles = `
:root {
  color-scheme: light dark;
  --paper: #f5f7f1; --surface: #ffffff; --ink: #12231a; --ink-soft: #4a5a50; --line: #d9dfd4;
  --leaf: #14683f; --bed: #0f2a1c; --on-bed: #eef5ee; --on-bed-soft: #b5cbbb; --bloom: #f4b740;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #0c1410; --surface: #131d17; --ink: #e9f0e9; --ink-soft: #a6b6ab; --line: #2b3a31;
    --leaf: #74d19d; --bed: #17402b; --on-bed: #e9f0e9; --on-bed-soft: #b4cdbd;
  }
}
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; margin: 0 }
header, main, footer { padding: 1.5rem max(1rem, 50vw - 28rem) }
header { background: var(--bed); color: var(--on-bed) }
header p, h1, h2, dl, dd, figure, figure p { margin: 0 }
header { border-radius: 0 0 0 2.5rem }
header p { align-items: center; color: var(--bloom); display: flex; font-weight: 600; gap: .5rem }
.mark { fill: currentColor; height: 1.25rem }
h1 { font-size: 1.75rem; line-height: 1.2 }
h2 { font-size: 1rem }
dl { display: flex; flex-wrap: wrap; gap: .75rem clamp(1.25rem, 5vw, 2.5rem); margin-top: 1.25rem }
dt { color: var(--on-bed-soft); font-size: .875rem }
dd { font-size: clamp(1.25rem, 5vw, 1.5rem); font-variant-numeric: tabular-nums; font-weight: 600; line-height: 1.25 }
main { display: grid; gap: 1rem; grid-template-columns: minmax(0, 1fr); overflow-x: auto; padding-bottom: 0 }
figure, table { background: var(--surface); border: 1px solid var(--line); border-radius: 0 1.25rem; padding: 1rem }
figcaption, figure p { display: flex; gap: 1rem; justify-content: space-between }
figcaption span, figure p, footer { color: var(--ink-soft); font-size: .875rem }
figure svg { border-bottom: 1px solid var(--ink-soft); display: block; height: 9rem; margin: .75rem 0 .25rem; width: 100% }
rect { fill: var(--leaf) }
table { border-spacing: 0; font-variant-numeric: tabular-nums; width: 100% }
th, td { border-top: 1px solid var(--line); font-weight: 400; padding: .3rem 0 .3rem 2rem; text-align: right; white-space: nowrap }
thead th { border: 0; color: var(--ink-soft); font-size: .875rem }
th:first-child { overflow-wrap: anywhere; padding-left: 0; min-width: 5.25rem; text-align: left; white-space: normal; width: 100% }
@media (max-width: 40rem) {
  header, main, footer { padding-left: .75rem; padding-right: .75rem }
  figure, table { padding: .625rem }
  th, td { font-size: .8125rem; padding-left: .35rem }
  thead th { font-size: .75rem }
}
`;
