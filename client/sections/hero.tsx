// The hero: headline, offer, sign-up link and the product example.
import { use } from "react";
import { formId } from "../shared/paths.ts";
import { SeedHeading } from "../components/stem.tsx";
import { closedList, hero } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";
import { Demo } from "./demo.tsx";

export function Hero() {
  const closed = use(SettingsContext).closed;
  return (
    <section className="hero">
      <div className="page">
        <div className="hero-text">
          <h1>
            <SeedHeading>{hero.headline}</SeedHeading>
          </h1>
          <p className="hero-lead soft">{hero.subtext}</p>
          <p className="hero-offer">{closed ? `${closedList.heading}.` : hero.offer}</p>
          <a className="button" href={`#${closed ? "features" : formId}`}>
            {closed ? closedList.button : hero.button}
          </a>
          {!closed && <p className="note">{hero.note}</p>}
        </div>
        <Demo />
      </div>
    </section>
  );
}
