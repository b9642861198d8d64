// The section with the form; the form post without JavaScript leads back to it.
import { formId } from "../addresses.ts";
import { Checks } from "../components/checks.tsx";
import { earlyAccess } from "../content.ts";
import { EarlyAccessForm } from "../early-access/form.tsx";

export function EarlyAccess() {
  // Focusable, so that the jump to it moves the focus, and a screen reader begins to read here.
  return (
    <section id={formId} className="early-access" tabIndex={-1} aria-labelledby="early-access-heading">
      <div className="early-access-content">
        <div className="early-access-words">
          <h2 id="early-access-heading">{earlyAccess.heading}</h2>
          <Checks items={earlyAccess.benefits} />
        </div>
        <EarlyAccessForm />
      </div>
    </section>
  );
}
