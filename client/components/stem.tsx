// The stem that connects the sections: a curve between two straight parts, and a leaf.
import type { ReactNode } from "react";

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
export function Twig({ children }: { children: ReactNode }) {
  return (
    <span className="twig" aria-hidden="true">
      {children}
    </span>
  );
}
