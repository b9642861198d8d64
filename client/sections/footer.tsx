// The footer.
import { use } from "react";
import { privacyPath } from "../shared/paths.ts";
import { Logo } from "../components/logo.tsx";
import { footer, product } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

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
