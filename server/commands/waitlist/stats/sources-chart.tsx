// The chart of sources: a bar of sign-ups for each, and its rate with the interval.
import { count } from "../progress.ts";
import { rateOf } from "./columns.ts";
import { Drawing, round, width } from "./drawing.tsx";
import type { Figure } from "./figures.ts";
import { formatInterval, formatRate } from "./rate.ts";

/** In units of the viewBox. */
const rowHeight = 24;
const labelWidth = 200;
const barsEnd = 480;
const ratesStart = 560;

interface SourcesProps {
  title: string;
  figures: Figure[];
  /** Undefined: there are no rates. */
  total: Figure | undefined;
  withFlagged: boolean;
}

/** Draws each rate as a dot on its interval, and the total rate as a dashed line. */
export function Sources({ title, figures, total, withFlagged }: SourcesProps) {
  const end = total ? barsEnd : width - 90;
  const scale = (end - labelWidth) / Math.max(1, ...figures.map(({ signups }) => signups));
  return (
    <Drawing title={title} height={(figures.length + 1) * rowHeight}>
      <text className="heading" x={labelWidth} y={14}>
        Sign-ups
      </text>
      {figures.map(({ label, signups, flagged }, i) => (
        <g key={label} transform={`translate(0 ${(i + 1) * rowHeight})`}>
          <text x={labelWidth - 10} y={16} textAnchor="end">
            {shorten(label)}
          </text>
          <rect className="bar" x={labelWidth} y={4} width={round(signups * scale)} height={rowHeight - 8} />
          {withFlagged && (
            <rect className="flagged" x={labelWidth} y={4} width={round(flagged * scale)} height={rowHeight - 8} />
          )}
          <text x={round(labelWidth + signups * scale + 6)} y={16}>
            {count(signups)}
          </text>
        </g>
      ))}
      {total && <Rates figures={figures} total={total} />}
    </Drawing>
  );
}

/** Intervals of sources with fewer views are cut off at the end of the scale. */
const viewsForScale = 50;

function Rates({ figures, total }: { figures: Figure[]; total: Figure }) {
  const highs = figures.map((figure) => (figure.views >= viewsForScale ? (rateOf(figure)?.high ?? 0) : 0));
  const most = Math.max(...highs) || 1;
  const x = (share: number) => round(ratesStart + Math.min(1, share / most) * (width - 8 - ratesStart));
  const line = (kind: string, at: number) => (
    <line className={kind} x1={at} y1={rowHeight} x2={at} y2={(figures.length + 1) * rowHeight} />
  );
  return (
    <>
      <text className="heading" x={ratesStart} y={14}>
        Rate, 95 % CI
      </text>
      <text className="heading" x={width} y={14} textAnchor="end">
        {percent(most)}
      </text>
      {line("axis", ratesStart)}
      {line("average", x(rateOf(total)?.rate ?? 0))}
      {figures.map((figure, i) => {
        const rate = rateOf(figure);
        const y = (i + 1.5) * rowHeight;
        return (
          rate && (
            <g key={figure.label}>
              <title>{`${figure.label}: ${formatRate(rate)}, ${formatInterval(rate)}`}</title>
              <line className="interval" x1={x(rate.low)} y1={y} x2={x(rate.high)} y2={y} />
              {rate.rate <= most && <circle className="bar" cx={x(rate.rate)} cy={y} r={4} />}
            </g>
          )
        );
      })}
    </>
  );
}

const percent = (share: number) => `${(share * 100).toFixed(1)} %`;

function shorten(label: string): string {
  const characters = Array.from(label);
  return characters.length > 24 ? `${characters.slice(0, 23).join("")}…` : label;
}
