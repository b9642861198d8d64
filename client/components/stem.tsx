// The stem that connects the sections: the seed of a headline, a curve between two straight parts, leaves and markers.
import type { ReactNode } from "react";

/** A headline that ends with the seed of the stem instead of a full stop. */
export function SeedHeading({ children }: { children: string }) {
  const lastSpace = children.lastIndexOf(" ");
  return (
    <>
      {children.slice(0, lastSpace + 1)}
      <span className="seed">{children.slice(lastSpace + 1)}</span>
    </>
  );
}

/** Runs from `from` to `to`, in percent of its width. */
export function Vine({ from, to }: { from: number; to: number }) {
  return (
    <svg className="vine" width="100" height="100" viewBox="0 0 100 100" preserveAspectRatio="none" aria-hidden="true">
      <path d={`M${from} 0C${from} 70 ${to} 30 ${to} 100`} />
    </svg>
  );
}

/** The mark's leaf, 38 × 34 units, in a drawing of the caller. */
export function Leaf({ transform }: { transform?: string }) {
  return <path className="leaf" d="M0 0h18c12 0 20 8 20 20v14H24C10 34 0 26 0 12z" transform={transform} />;
}

/** A leaf of the stem that carries a number or an icon. */
export function StepMarker({ children }: { children: ReactNode }) {
  return (
    <span className="step-marker" aria-hidden="true">
      {children}
    </span>
  );
}
