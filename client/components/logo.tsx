// The logo: the mark and the name.
import { markPath, product } from "../shared/content.ts";

export function Logo() {
  return (
    <span className="logo">
      <Mark />
      {product.name}
    </span>
  );
}

function Mark() {
  return (
    <svg className="mark" width="24" height="26" viewBox="4 3 24 26" aria-hidden="true">
      <path d={markPath} />
    </svg>
  );
}
