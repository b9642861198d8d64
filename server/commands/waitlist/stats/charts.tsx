// The SVG charts of the report: bars for names, columns for days. Flagged entries have another colour.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an <img> would need another file */
import type { Figure } from "./figures.ts";
import { count } from "../progress.ts";

interface Chart {
  title: string;
  figures: Figure[];
}

/** In units of the viewBox, which scales with the page. */
const width = 800;
const barHeight = 22;
const labelWidth = 200;
const valueWidth = 90;
const columnsHeight = 220;
const axisHeight = 24;

const most = (figures: Figure[]) => Math.max(1, ...figures.map(({ signups }) => signups));

function Drawing({ title, height, children }: { title: string; height: number; children: React.ReactNode }) {
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}, as a chart of the table below`}>
      {children}
    </svg>
  );
}

export function Bars({ title, figures }: Chart) {
  const scale = (width - labelWidth - valueWidth) / most(figures);
  return (
    <Drawing title={title} height={figures.length * barHeight}>
      {figures.map(({ label, signups, flagged }, i) => (
        <g key={label} transform={`translate(0 ${i * barHeight})`}>
          <text x={labelWidth - 8} y={15} textAnchor="end">
            {shorten(label)}
          </text>
          <rect className="bar" x={labelWidth} y={3} width={round(signups * scale)} height={barHeight - 6} />
          <rect className="flagged" x={labelWidth} y={3} width={round(flagged * scale)} height={barHeight - 6} />
          <text x={round(labelWidth + signups * scale + 6)} y={15}>
            {count(signups)}
          </text>
        </g>
      ))}
    </Drawing>
  );
}

/** @param figures labelled by day, the oldest first; days without a figure leave a gap. */
export function Columns({ title, figures }: Chart) {
  const first = dayNumber(figures[0]);
  const last = dayNumber(figures.at(-1));
  const step = width / (last - first + 1);
  const scale = (columnsHeight - 20) / most(figures);
  return (
    <Drawing title={title} height={columnsHeight + axisHeight}>
      {figures.map((figure) => {
        const x = round((dayNumber(figure) - first) * step);
        // At least 1 unit, so that a column stays visible in a chart of years.
        const columnWidth = round(Math.min(40, Math.max(1, step * 0.8)));
        const column = (kind: string, height: number) => (
          <rect className={kind} x={x} y={round(columnsHeight - height)} width={columnWidth} height={round(height)} />
        );
        return (
          <g key={figure.label}>
            {column("bar", figure.signups * scale)}
            {column("flagged", figure.flagged * scale)}
          </g>
        );
      })}
      <line className="axis" x1={0} y1={columnsHeight} x2={width} y2={columnsHeight} />
      <text x={0} y={12}>
        {count(most(figures))}
      </text>
      <text x={0} y={columnsHeight + 16}>
        {figures[0]?.label}
      </text>
      {last > first && (
        <text x={width} y={columnsHeight + 16} textAnchor="end">
          {figures.at(-1)?.label}
        </text>
      )}
    </Drawing>
  );
}

const dayNumber = (figure?: Figure) => Date.parse(figure?.label ?? "") / 86_400_000;
const round = (value: number) => Math.round(value * 10) / 10;

function shorten(label: string): string {
  const characters = Array.from(label);
  return characters.length > 26 ? `${characters.slice(0, 25).join("")}…` : label;
}
