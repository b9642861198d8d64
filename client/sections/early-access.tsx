// The section with the form; the form post without JavaScript leads back to it.
import { formId } from "../addresses.ts";
import { EarlyAccessForm } from "../early-access/form.tsx";

export function EarlyAccess() {
  // Focusable, so that the jump to it moves the focus, and a screen reader begins to read here.
  return (
    <section id={formId} className="section" tabIndex={-1} aria-labelledby="early-access-heading">
      <EarlyAccessForm />
    </section>
  );
}
