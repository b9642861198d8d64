// The HTML report of stats --html: charts as inline SVG, and tables with the same figures. React escapes every text.
/* oxlint-disable react/no-array-index-key -- the markup is static, and two columns have the same heading */
import { renderToStaticMarkup } from "react-dom/server";
import { count } from "../progress.ts";
import { Bars, Columns } from "./charts.tsx";
import { figureColumns, recentColumns, type Column } from "./columns.ts";
import type { Figures } from "./figures.ts";
import type { Recent } from "./recent.ts";
import { styles } from "./report-style.ts";

/** Forbids scripts and requests, whatever a label holds. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/** Beside one row for all others. */
export const sourcesInReport = 20;
const daysInReport = 30;

interface ReportData {
  figures: Figures;
  recent: Recent[];
  /** Shows every day in the table; the chart has them always. */
  all: boolean;
}

/** Returns a complete HTML document. */
export function renderReport(data: ReportData, at: Date): string {
  return `<!doctype html>\n${renderToStaticMarkup(<Report {...data} at={at} />)}\n`;
}

function Report({ figures, recent, all, at }: ReportData & { at: Date }) {
  const time = at.toISOString();
  return (
    <html lang="en">
      <head>
        <meta charSet="utf-8" />
        <meta httpEquiv="Content-Security-Policy" content={policy} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="robots" content="noindex" />
        <title>Waitlist statistics</title>
        <style dangerouslySetInnerHTML={{ __html: styles }} />
      </head>
      <body>
        <main>
          <h1>Waitlist statistics</h1>
          <Lead figures={figures} />
          {figures.byDay.length > 0 && <Sections figures={figures} recent={recent} all={all} />}
          <p className="note">
            As of <time dateTime={time}>{time.slice(0, 16).replace("T", " ")} UTC</time>. Days are in UTC. Invited
            entries have the status invited or joined.
            {figures.withViews &&
              " Views are loads of the landing page, not visitors. The rate is sign-ups per view, without imported entries and without days on which no views were counted; 95 % CI is its Wilson interval in percent. If the intervals of two sources overlap, the better one may be better by chance."}
          </p>
        </main>
      </body>
    </html>
  );
}

function Lead({ figures: { total, byDay, byStatus, withViews, withFlagged } }: { figures: Figures }) {
  return (
    <p>
      {byDay.length > 0 && `${byDay.at(-1)?.label} to ${byDay[0]?.label}: `}
      {withViews && `${count(total.views)} views, `}
      {count(total.signups)} sign-ups
      {byStatus.length > 0 && ` (${byStatus.map(({ label, signups }) => `${count(signups)} ${label}`).join(", ")})`}.
      {total.flagged > 0 &&
        ` ${withFlagged ? "Of the sign-ups," : "Not counted:"} ${count(total.flagged)} flagged as suspected spam, with a disposable address or of unusual volume.`}
    </p>
  );
}

function Sections({ figures, recent, all }: ReportData) {
  const { total, withViews, withFlagged, byDay, bySource } = figures;
  const days = all ? byDay : byDay.slice(0, daysInReport);
  const columns = figureColumns(figures);
  const outlined = withFlagged && " (outlined: flagged)";
  return (
    <>
      <Scroll label="Sign-ups per day">
        <h2>Sign-ups per day{outlined}</h2>
        <Columns title="Sign-ups per day" figures={byDay} of="signups" withFlagged={withFlagged} />
      </Scroll>
      {withViews && (
        <Scroll label="Views per day">
          <h2>Views per day</h2>
          <Columns title="Views per day" figures={byDay} of="views" />
        </Scroll>
      )}
      {recent.length > 0 && (
        <Table caption="Recent periods" head="Period" rows={recent} columns={recentColumns(figures)} />
      )}
      <Scroll label="Sign-ups per source">
        <h2>Sign-ups per source{outlined}</h2>
        <Bars title="Sign-ups per source" figures={bySource} withFlagged={withFlagged} />
      </Scroll>
      <Table caption="Sources" head="Source" rows={bySource} columns={columns} />
      <Table
        caption={days.length < byDay.length ? `The latest ${days.length} of ${count(byDay.length)} days` : "Days"}
        head="Day"
        rows={[...days, total]}
        columns={columns}
      />
    </>
  );
}

/** On a small screen the content scrolls sideways, also by keyboard. */
function Scroll({ label, children }: { label: string; children: React.ReactNode }) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- it scrolls
    <section className="scroll" aria-label={label} tabIndex={0}>
      {children}
    </section>
  );
}

interface TableProps<Row> {
  caption: string;
  head: string;
  rows: Row[];
  columns: Column<Row>[];
}

function Table<Row extends { label: string }>({ caption, head, rows, columns }: TableProps<Row>) {
  return (
    <Scroll label={caption}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            <th scope="col">{head}</th>
            {columns.map(({ heading }, i) => (
              <th key={i} scope="col">
                {heading}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.label}>
              <th scope="row">
                <bdi>{row.label}</bdi>
              </th>
              {columns.map(({ cell }, i) => (
                <td key={i}>{cell(row)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}
