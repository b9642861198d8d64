// The landing page: all sections in their order.
import { lazy, Suspense } from "react";
import { navigation } from "../content.ts";
import { EarlyAccess } from "../sections/early-access.tsx";
import { Footer } from "../sections/footer.tsx";
import { Navigation } from "../sections/navigation.tsx";
import { StaticSections } from "../sections/static-sections.tsx";

/**
 * The built page keeps the server's HTML of these sections: React hydrates everything around a component that never loads,
 * so the browser fetches neither their code nor their copy. In development they are hydrated, for hot reload.
 */
const Sections =
  import.meta.env.SSR || import.meta.env.DEV ? StaticSections : lazy(() => new Promise<never>(() => undefined));

export function LandingPage() {
  return (
    <>
      <a className="skip-link" href="#content">
        {navigation.skip}
      </a>
      <Navigation />
      <main id="content" tabIndex={-1}>
        <Suspense>
          <Sections />
        </Suspense>
        <EarlyAccess />
      </main>
      <Footer />
    </>
  );
}
