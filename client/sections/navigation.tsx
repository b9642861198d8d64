// The navigation bar, fixed at the top.
import { formId } from "../addresses.ts";
import { Logo } from "../components/logo.tsx";
import { navigation } from "../content.ts";

/** @param landing the address of the landing page; empty on that page itself. */
export function Navigation({ landing = "" }: { landing?: "" | "/" }) {
  return (
    <header className="navigation">
      <nav className="page" aria-label={navigation.label}>
        <a className="navigation-home" href={landing || "#top"}>
          <Logo />
        </a>
        <a className="navigation-link" href={`${landing}#features`}>
          {navigation.features}
        </a>
        <a className="navigation-link" href={`${landing}#pricing`}>
          {navigation.pricing}
        </a>
        <a className="button button-small" href={`${landing}#${formId}`}>
          {navigation.join}
        </a>
      </nav>
    </header>
  );
}
