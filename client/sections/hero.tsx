// The hero: headline, offer, sign-up link and the product example.
import { formId } from "../addresses.ts";
import { hero } from "../content.ts";
import { Demo } from "./demo.tsx";

export function Hero() {
  return (
    <section className="hero">
      <div className="hero-text">
        <h1>{hero.headline}</h1>
        <p className="lead">{hero.subtext}</p>
        <p className="hero-offer">{hero.offer}</p>
        <a className="button" href={`#${formId}`}>
          {hero.button}
        </a>
        <p className="note">{hero.note}</p>
      </div>
      <Demo />
    </section>
  );
}
