// The error summary after a failed form post without JavaScript: it has focus and links to the fields.
import { earlyAccess, formFailure } from "../shared/content.ts";
import type { FormFailure } from "../shared/landing-state.ts";
import { fieldId } from "./field-input.tsx";
import { fields } from "../shared/fields.ts";

export function FormFailureSummary({ failure: { status, errors, values, wait } }: { failure: FormFailure }) {
  const invalid = fields.filter(({ name }) => errors[name]);
  // oxlint-disable jsx-a11y/no-autofocus -- this page is the response to a form post; the visitor needs its errors first
  return (
    <section className="form-failure" aria-labelledby="failure-heading" tabIndex={-1} autoFocus>
      <h3 id="failure-heading">
        {invalid.length > 0 ? formFailure.heading(invalid.length) : earlyAccess.failure.title}
      </h3>
      {invalid.length === 0 && (
        <p>
          {formFailure.reasons[status]} {status !== 410 && (wait ?? earlyAccess.failure.text)}{" "}
          {!values && status !== 405 && formFailure.back}
        </p>
      )}
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
