// The HTML page of stats --html: totals, a chart of the sign-ups per day, and the tables of the terminal. React escapes every text.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an <img> would need another file */
import { renderToStaticMarkup } from "react-dom/server";
import { markPath, product } from "../../../client/shared/content.ts";
import { count } from "../command.ts";
import type { Figure, Figures } from "../../models/stats.ts";
import { reportStyles } from "./stats-report-styles.ts";

/** Forbids scripts and requests, whatever a label holds. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

export interface Table {
  /** The first one heads the labels of the rows. */
  headings: string[];
  rows: { label: string; cells: string[] }[];
}

/** Returns a complete HTML document. */
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
