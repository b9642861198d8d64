// The landing page: its sections in the specification's order.
import { navigation } from "../content.ts";
import { EarlyAccess } from "../sections/early-access.tsx";
import { Features } from "../sections/features.tsx";
import { Footer } from "../sections/footer.tsx";
import { Hero } from "../sections/hero.tsx";
import { Navigation } from "../sections/navigation.tsx";
import { Pricing } from "../sections/pricing.tsx";

export function LandingPage() {
  return (
    <>
      <a className="skip-link" href="#content">
        {navigation.skip}
      </a>
      <Navigation />
      <main id="content">
        <Hero />
        <Features />
        <Pricing />
        <EarlyAccess />
      </main>
      <Footer />
    </>
  );
}
