// The frame of the report's SVG charts.
/* oxlint-disable jsx-a11y/prefer-tag-over-role -- an <img> would need another file */

/** In units of the viewBox, which scales with the page. */
export const width = 800;

interface DrawingProps {
  title: string;
  height: number;
  children: React.ReactNode;
}

export function Drawing({ title, height, children }: DrawingProps) {
  return (
    <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={`${title}, as a chart of the table below`}>
      {children}
    </svg>
  );
}

export const round = (value: number) => Math.round(value * 10) / 10;
