// The stem that connects the sections: the seed of a headline, the curves between its straight parts, leaves and markers.
import type { ReactNode } from "react";

/** A headline that ends with the seed of the stem instead of a full stop. In an element: React cannot remove a translated text. */
export function SeedHeading({ children }: { children: string }) {
  const lastSpace = children.lastIndexOf(" ");
  return (
    <span>
      {children.slice(0, lastSpace + 1)}
      <span className="seed">{children.slice(lastSpace + 1)}</span>
    </span>
  );
}

/** Runs from its upper right to its lower left corner; with `end`, at the end of a section, from left to right. */
export function Vine({ end }: { end?: boolean }) {
  return (
    <span className={end ? "vine vine-end" : "vine"} aria-hidden="true">
      <svg width="24" height="32" viewBox="0 0 100 100" preserveAspectRatio="none">
        <path d="M100 0C100 70 0 30 0 100" />
      </svg>
    </span>
  );
}

/** The mark's leaf, 38 × 34 units, in a drawing of the caller. */
export function Leaf({ transform }: { transform?: string }) {
  return (
    <g transform={transform}>
      <path className="leaf" d="M0 0h18c12 0 20 8 20 20v14H24C10 34 0 26 0 12z" />
    </g>
  );
}

/** A leaf of the stem, which may carry an icon. */
export function StepMarker({ children }: { children: ReactNode }) {
  return (
    <span className="step-marker" aria-hidden="true">
      {children}
    </span>
  );
}
