// The section with the early-access form; a form post without JavaScript returns to it.
import { formId } from "../addresses.ts";
import { Sentence } from "../components/sentence.tsx";
import { Twig } from "../components/stem.tsx";
import { earlyAccess } from "../content.ts";
import { EarlyAccessForm } from "../early-access/form.tsx";

export function EarlyAccess() {
  // Focusable, so that a link to it moves focus and a screen reader starts reading here.
  return (
    <section id={formId} className="early-access" tabIndex={-1} aria-labelledby="early-access-heading">
      <div className="page">
        <div className="panel bed">
          <div className="panel-words">
            <h2 id="early-access-heading">
              <Sentence>{earlyAccess.heading}</Sentence>
            </h2>
            <h3 className="next-title">What happens next</h3>
            <ol className="next stem" role="list">
              {earlyAccess.benefits.map((x, i) => (
                <li key={x}>
                  <Twig>{i + 1}</Twig>
                  <b>{x}</b>
                  <span>{x}</span>
                </li>
              ))}
            </ol>
          </div>
          <EarlyAccessForm />
        </div>
      </div>
    </section>
  );
}
