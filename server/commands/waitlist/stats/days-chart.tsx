// The chart of days: a column for each.
import { count } from "../progress.ts";
import { Drawing, round, width } from "./drawing.tsx";
import type { Figure } from "./figures.ts";

/** In units of the viewBox. */
const columnsHeight = 140;
const axisHeight = 24;

interface ColumnsProps {
  title: string;
  figures: Figure[];
  count: "views" | "signups";
  /** The part of each column in another colour. */
  part?: "flagged";
}

/** @param figures labelled by day, the newest first; days without a figure leave a gap. */
export function Columns({ title, figures, count: key, part }: ColumnsProps) {
  const first = dayNumber(figures.at(-1));
  const step = width / (dayNumber(figures[0]) - first + 1);
  const most = Math.max(1, ...figures.map((figure) => figure[key]));
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
          <title>{`${figure.label}: ${count(figure[key])}`}</title>
          {column("bar", figure, figure[key])}
          {part && column(part, figure, figure[part])}
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

const dayNumber = (figure?: Figure) => Date.parse(figure?.label ?? "") / 86_400_000;
