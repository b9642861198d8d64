// The logo: a sprout of two leaves, and the product's name.
import { product } from "../content.ts";

export function Logo() {
  return (
    <span className="logo">
      <svg className="logo-mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
        <path d="M15 29V17.5C7.5 17.5 3 13 3 5c8 0 12.2 3.6 13 9.6C16.900 10.500 20.500 8 29 8c0 8-4.600 12-12 12v9z" />
      </svg>
      {product.name}
    </span>
  );
}
