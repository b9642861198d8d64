// What went wrong with a form post without JavaScript: has the focus and links to the fields.
import { earlyAccess } from "../content.ts";
import type { FormFailure } from "../page-data.ts";
import { fieldId } from "./field-input.tsx";
import { fields } from "./fields.ts";

export function FailureSummary({ failure: { status, errors, values } }: { failure: FormFailure }) {
  const bad = fields.filter(({ name }) => errors[name]);
  // oxlint-disable jsx-a11y/no-autofocus -- a new page that answers what was just sent: its answer comes first
  return (
    <section className="failure-summary" aria-labelledby="failure-heading" tabIndex={-1} autoFocus>
      <h3 id="failure-heading">{earlyAccess.failure.title}</h3>
      <p>
        {earlyAccess.reasons[status]} {earlyAccess.failure.text} {!values && status !== 405 && earlyAccess.failure.back}
      </p>
      {bad.length > 0 && (
        <ul>
          {bad.map(({ name }) => (
            <li key={name}>
              <a href={`#${fieldId(name)}`}>{errors[name]}</a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
