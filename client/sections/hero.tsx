// The first screen: what it is, and the offer.
import { formId } from "../addresses.ts";
import { hero } from "../content.ts";

export function Hero() {
  return (
    <section className="hero">
      <h1>{hero.headline}</h1>
      <p className="hero-subtext">{hero.subtext}</p>
      <p className="hero-offer">{hero.offer}</p>
      <a className="button" href={`#${formId}`}>
        {hero.button}
      </a>
      <p className="hero-note">{hero.note}</p>
    </section>
  );
}
