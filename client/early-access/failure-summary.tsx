// The error summary after a failed form post without JavaScript: it has focus and links to the fields.
import { earlyAccess } from "../content.ts";
import type { FormFailure } from "../page-data.ts";
import { fieldId } from "./field-input.tsx";
import { fields } from "./fields.ts";

export function FailureSummary({ failure: { status, errors, values } }: { failure: FormFailure }) {
  const invalid = fields.filter(({ name }) => errors[name]);
  // oxlint-disable jsx-a11y/no-autofocus -- this page is the response to a form post; the visitor needs its errors first
  return (
    <section className="failure-summary" aria-labelledby="failure-heading" tabIndex={-1} autoFocus>
      <h3 id="failure-heading">{earlyAccess.failure.title}</h3>
      <p>
        {earlyAccess.reasons[status]} {earlyAccess.failure.text} {!values && status !== 405 && earlyAccess.failure.back}
      </p>
      {invalid.length > 0 && (
        <ul role="list">
          {invalid.map(({ name }) => (
            <li key={name}>
              <a href={`#${fieldId(name)}`}>{errors[name]}</a>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
