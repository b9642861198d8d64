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
    <svg className="mark" width="26" height="26" viewBox="0 0 32 32" aria-hidden="true">
      <path d={markPath} />
    </svg>
  );
}
