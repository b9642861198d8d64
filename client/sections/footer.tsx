// The footer.
import { use } from "react";
import { privacyPath } from "../addresses.ts";
import { Logo } from "../components/logo.tsx";
import { footer, product } from "../content.ts";
import { SettingsContext } from "../site-settings.ts";

export function Footer() {
  const { links } = use(SettingsContext);
  return (
    <footer className="footer">
      <div className="page">
        <Logo />
        <p>{product.tagline}</p>
        {[{ label: footer.privacy, url: privacyPath }, ...links].map(({ label, url }) => (
          <a key={label} href={url}>
            {label}
          </a>
        ))}
        <p>{product.copyright}</p>
      </div>
    </footer>
  );
}
