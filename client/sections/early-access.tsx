// The section with the early-access form; a form post without JavaScript returns to it.
import { formId } from "../addresses.ts";
import { Checks } from "../components/checks.tsx";
import { earlyAccess } from "../content.ts";
import { EarlyAccessForm } from "../early-access/form.tsx";

export function EarlyAccess() {
  // Focusable, so that a link to it moves focus and a screen reader starts reading here.
  return (
    <section id={formId} className="early-access" tabIndex={-1} aria-labelledby="early-access-heading">
      <div className="early-access-content">
        <div className="early-access-text">
          <h2 id="early-access-heading">{earlyAccess.heading}</h2>
          <Checks items={earlyAccess.benefits} />
        </div>
        <EarlyAccessForm />
      </div>
    </section>
  );
}
