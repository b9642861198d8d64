// The navigation bar, fixed at the top.
import { use } from "react";
import { useLocation } from "react-router-dom";
import { formId } from "../shared/paths.ts";
import { Logo } from "../components/logo.tsx";
import { navigation } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

/** Its button is quiet on a page that has a button of its own. */
export function Navigation({ quiet = false }: { quiet?: boolean }) {
  const landing = useLocation().pathname === "/" ? "" : "/";
  const { closed } = use(SettingsContext);
  return (
    <header className="navigation">
      <nav className="page" aria-label={navigation.label}>
        <a className="navigation-home" href={landing || "#top"}>
          <Logo />
        </a>{" "}
        <a className="navigation-link" href={`${landing}#features`}>
          {navigation.features}
        </a>{" "}
        <a className="navigation-link" href={`${landing}#pricing`}>
          {navigation.pricing}
        </a>{" "}
        <a
          className={quiet || closed ? "button button-quiet button-small" : "button button-small"}
          href={`${landing}#${formId}`}
        >
          {closed ? navigation.closed : navigation.join}
        </a>
      </nav>
    </header>
  );
}
