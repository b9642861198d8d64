// The landing page: all sections in their order.
import { use } from "react";
import { navigation } from "../shared/content.ts";
import { PageContext, type LandingState } from "../shared/landing-state.ts";
import { EarlyAccess } from "../sections/early-access.tsx";
import { Features } from "../sections/features.tsx";
import { Footer } from "../sections/footer.tsx";
import { Hero } from "../sections/hero.tsx";
import { Navigation } from "../sections/navigation.tsx";
import { Pricing } from "../sections/pricing.tsx";
import { BrandPromise } from "../sections/promise.tsx";

export function LandingPage() {
  const page = use(PageContext);
  return (
    <>
      <a className="skip-link" href="#content">
        {navigation.skip}
      </a>{" "}
      <Navigation />
      <main id="content">
        <Hero />
        <Features />
        <BrandPromise />
        <Pricing />
        <EarlyAccess state={page === "/" ? "form" : (page as LandingState)} />
      </main>
      <Footer />
    </>
  );
}
