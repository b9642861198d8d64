// The navigation bar, fixed at the top.
import { formId } from "../addresses.ts";
import { Logo } from "../components/logo.tsx";
import { navigation } from "../content.ts";

export function Navigation() {
  return (
    <header className="navigation">
      <nav className="navigation-content" aria-label={navigation.label}>
        <a className="navigation-home" href="#top" aria-label={navigation.home}>
          <Logo />
        </a>
        <a className="navigation-link" href="#features">
          {navigation.features}
        </a>
        <a className="navigation-link" href="#pricing">
          {navigation.pricing}
        </a>
        <a className="button button-small" href={`#${formId}`}>
          {navigation.join}
        </a>
      </nav>
    </header>
  );
}
