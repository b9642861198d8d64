// The fixed bar at the top.
import { formId } from "../addresses.ts";
import { Logo } from "../components/logo.tsx";
import { navigation } from "../content.ts";

export function Navigation() {
  return (
    <header className="bar">
      <nav className="bar-content" aria-label={navigation.label}>
        <a className="bar-home" href="#top" aria-label={navigation.home}>
          <Logo />
        </a>
        <a className="bar-link" href="#features">
          {navigation.features}
        </a>
        <a className="bar-link" href="#pricing">
          {navigation.pricing}
        </a>
        <a className="button button-small" href={`#${formId}`}>
          {navigation.join}
        </a>
      </nav>
    </header>
  );
}
