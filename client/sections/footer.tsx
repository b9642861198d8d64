// The footer.
import { Logo } from "../components/logo.tsx";
import { product } from "../content.ts";

export function Footer() {
  return (
    <footer className="footer">
      <div className="page">
        <Logo />
        <p>{product.tagline}</p>
        <p>{product.copyright}</p>
      </div>
    </footer>
  );
}
