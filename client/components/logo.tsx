// The logo: the mark and the name.
import { product } from "../shared/content.ts";

/** The mark is a P whose bowl is a leaf, in a square of 32. The same drawing as client/public/favicon.svg. */
export function Logo() {
  return (
    <span className="logo" translate="no">
      <svg className="mark" width="24" height="26" viewBox="4 3 24 26" aria-hidden="true">
        <path d="M4 3h13c6.6 0 11 4.4 11 11v7h-7.5C14 21 9.3 17 9 11.5v15a2.5 2.5 0 0 1-5 0z" />
      </svg>
      {product.name}
    </span>
  );
}
