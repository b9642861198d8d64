// The hero: headline, offer, sign-up link and the product example.
import { formId } from "../addresses.ts";
import { Sentence } from "../components/sentence.tsx";
import { hero } from "../content.ts";
import { Demo } from "./demo.tsx";

export function Hero() {
  return (
    <section className="hero">
      <div className="page">
        <div className="hero-text">
          <h1>
            <Sentence>{hero.headline}</Sentence>
          </h1>
          <p className="hero-lead soft">{hero.subtext}</p>
          <p className="hero-offer">{hero.offer}</p>
          <a className="button" href={`#${formId}`}>
            {hero.button}
          </a>
          <p className="note">{hero.note}</p>
        </div>
        <Demo />
      </div>
    </section>
  );
}
