// The HTML report of stats --html: charts as inline SVG, and tables with the same figures. React escapes every text.
import { renderToStaticMarkup } from "react-dom/server";
import type { Figure, Figures } from "./figures.ts";
import { Columns, Bars } from "./charts.tsx";
import { count } from "../progress.ts";

/** Forbids scripts and requests, whatever a label holds. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

const styles = `
:root { color-scheme: light dark; --ink: #1c2420; --paper: #fbfaf6; --line: #c9cec8; --bar: #2f6b4f; --flag: #b3541e }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8ece8; --paper: #151a17; --line: #3c463f; --bar: #7fc4a0; --flag: #f0a070 }
}
body { background: var(--paper); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem; padding: 2rem 1rem }
figure { margin: 1rem 0 }
svg { display: block; height: auto; width: 100% }
svg text { fill: var(--ink); font-size: 12px }
.bar { fill: var(--bar) }
.flagged { fill: var(--flag) }
.axis { stroke: var(--line) }
table { border-collapse: collapse }
th, td { border-bottom: 1px solid var(--line); padding: .25rem 1rem .25rem 0; text-align: left }
td { font-variant-numeric: tabular-nums; text-align: right }
`;

/** Returns a complete HTML document. */
export function renderReport(figures: Figures, at: Date): string {
  return `<!doctype html>\n${renderToStaticMarkup(<Report figures={figures} at={at} />)}\n`;
}

function Report({ figures, at }: { figures: Figures; at: Date }) {
  const { withFlagged, withConfirmed, total, byStatus, byDay, bySource } = figures;
  const shown = { withFlagged, withConfirmed };
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
          <p>
            {count(total.signups)} sign-ups{withFlagged ? ", of which" : ". Not counted:"} {count(total.flagged)}{" "}
            flagged as suspected spam, with a disposable address or of unusual volume. As of{" "}
            <time dateTime={time}>{time.slice(0, 16).replace("T", " ")} UTC</time>.
          </p>
          <Section title="By status" figures={byStatus} {...shown} Chart={Bars} />
          <Section title="By day (UTC)" figures={byDay} {...shown} Chart={Columns} />
          <Section title="By source" figures={bySource} {...shown} Chart={Bars} />
        </main>
      </body>
    </html>
  );
}

interface SectionProps {
  title: string;
  figures: Figure[];
  withFlagged: boolean;
  withConfirmed: boolean;
  Chart: typeof Bars;
}

function Section({ title, figures, withFlagged, withConfirmed, Chart }: SectionProps) {
  const heading = <h2>{title}</h2>;
  if (figures.length === 0) {
    return (
      <section>
        {heading}
        <p>No sign-ups.</p>
      </section>
    );
  }
  return (
    <section>
      {heading}
      <figure>
        <Chart title={title} figures={figures} />
      </figure>
      <table>
        <caption>{title}, as figures</caption>
        <thead>
          <tr>
            <th scope="col">{title.replace(/^By /, "")}</th>
            <th scope="col">Sign-ups</th>
            {withConfirmed && <th scope="col">Confirmed</th>}
            {withFlagged && <th scope="col">Flagged</th>}
          </tr>
        </thead>
        <tbody>
          {figures.map(({ label, signups, flagged, confirmed }) => (
            <tr key={label}>
              <th scope="row">
                <bdi>{label}</bdi>
              </th>
              <td>{count(signups)}</td>
              {withConfirmed && <td>{count(confirmed)}</td>}
              {withFlagged && <td>{count(flagged)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
