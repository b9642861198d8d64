// The landing page: all sections in their order.
import { use } from "react";
import { navigation } from "../shared/content.ts";
import { PageContext, type LandingState, type PageId } from "../shared/landing-state.ts";
import { EarlyAccess } from "../sections/early-access.tsx";
import { Features } from "../sections/features.tsx";
import { Footer } from "../sections/footer.tsx";
import { Hero } from "../sections/hero.tsx";
import { Navigation } from "../sections/navigation.tsx";
import { Pricing } from "../sections/pricing.tsx";
import { BrandPromise } from "../sections/promise.tsx";

export function LandingPage() {
  const state = landingState(use(PageContext));
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
        <EarlyAccess state={state} />
      </main>
      <Footer />
    </>
  );
}

/** @throws on another page: the browser would give it the title and the success of "/". */
function landingState(page: PageId): LandingState {
  if (page === "/") return "form";
  if (page === "undoable" || page === "joined" || page === "undone") return page;
  throw new Error(`There is one landing page: ${page} needs a component of its own`);
}
