// The sections between the navigation bar and the form. They have no behaviour.
import { Features } from "./features.tsx";
import { Hero } from "./hero.tsx";
import { Pricing } from "./pricing.tsx";
import { BrandPromise } from "./promise.tsx";
import { Questions } from "./questions.tsx";
import { Steps } from "./steps.tsx";

export function StaticSections() {
  return (
    <>
      <Hero />
      <Steps />
      <Features />
      <BrandPromise />
      <Pricing />
      <Questions />
    </>
  );
}
