// The charts of the report, as inline SVG: a column for each day, and a bar for each source.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an <img> would need another file */
import { count } from "../progress.ts";
import type { Figure } from "./figures.ts";
import { shorten } from "./columns.ts";

/** In units of the viewBox, which scales with the page. */
const width = 800;
const columnsHeight = 140;
const axisHeight = 24;
const barHeight = 24;
const labelWidth = 200;
const valueWidth = 90;

interface DrawingProps {
  title: string;
  height: number;
  children: React.ReactNode;
}

function Drawing({ title, height, children }: DrawingProps) {
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}, as a chart; the tables have the figures`}>
      {children}
    </svg>
  );
}

interface ChartProps {
  title: string;
  figures: Figure[];
  /** Flagged entries are outlined. */
  withFlagged?: boolean;
}

/** @param figures labelled by day, the newest first; days without a figure leave a gap. */
export function Columns({ title, figures, withFlagged, of }: ChartProps & { of: "views" | "signups" }) {
  const first = dayNumber(figures.at(-1));
  const step = width / (dayNumber(figures[0]) - first + 1);
  const most = Math.max(1, ...figures.map((figure) => figure[of]));
  const scale = (columnsHeight - 20) / most;
  // At least 1 unit, so that a column stays visible in a chart of years.
  const columnWidth = round(Math.min(40, Math.max(1, step * 0.75)));
  const column = (kind: string, figure: Figure, value: number) => (
    <rect
      className={kind}
      x={round((dayNumber(figure) - first) * step)}
      y={round(columnsHeight - value * scale)}
      width={columnWidth}
      height={round(value * scale)}
    />
  );
  return (
    <Drawing title={title} height={columnsHeight + axisHeight}>
      <line className="grid" x1={0} y1={20} x2={width} y2={20} />
      <text x={0} y={14}>
        {count(most)}
      </text>
      {figures.map((figure) => (
        <g key={figure.label}>
          <title>{`${figure.label}: ${count(figure[of])}`}</title>
          {column("bar", figure, figure[of])}
          {withFlagged && column("flagged", figure, figure.flagged)}
        </g>
      ))}
      <line className="axis" x1={0} y1={columnsHeight} x2={width} y2={columnsHeight} />
      <text x={0} y={columnsHeight + 16}>
        {figures.at(-1)?.label}
      </text>
      {figures.length > 1 && (
        <text x={width} y={columnsHeight + 16} textAnchor="end">
          {figures[0]?.label}
        </text>
      )}
    </Drawing>
  );
}

export function Bars({ title, figures, withFlagged }: ChartProps) {
  const scale = (width - labelWidth - valueWidth) / Math.max(1, ...figures.map(({ signups }) => signups));
  const bar = (kind: string, value: number) => (
    <rect className={kind} x={labelWidth} y={4} width={round(value * scale)} height={barHeight - 8} />
  );
  return (
    <Drawing title={title} height={figures.length * barHeight}>
      {figures.map(({ label, signups, flagged }, i) => (
        <g key={label} transform={`translate(0 ${i * barHeight})`}>
          <text x={labelWidth - 10} y={16} textAnchor="end">
            {shorten(label, 24)}
          </text>
          {bar("bar", signups)}
          {withFlagged && bar("flagged", flagged)}
          <text x={round(labelWidth + signups * scale + 6)} y={16}>
            {count(signups)}
          </text>
        </g>
      ))}
    </Drawing>
  );
}

const dayNumber = (figure?: Figure) => Date.parse(figure?.label ?? "") / 86_400_000;
const round = (value: number) => Math.round(value * 10) / 10;
