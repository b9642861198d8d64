// The logo: the mark and the product's name.
import { product } from "../content.ts";
import { Mark } from "./mark.tsx";

export function Logo() {
  return (
    <span className="logo">
      <Mark />
      {product.name}
    </span>
  );
}
