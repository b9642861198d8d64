// The error summary after a failed form post without JavaScript: the URL gives it focus, and it links to the fields.
import { earlyAccess, formFailure } from "../shared/content.ts";
import type { FormFailure } from "../shared/landing-state.ts";
import { fieldId } from "./field-input.tsx";
import { fields } from "../shared/fields.ts";
import { failureId } from "../shared/paths.ts";

export function FormFailureSummary({ failure: { status, errors, values, wait } }: { failure: FormFailure }) {
  const invalid = fields.filter(({ name }) => errors[name]);
  return (
    <div id={failureId} className="form-failure" role="alert" aria-labelledby="failure-heading" tabIndex={-1}>
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
    </div>
  );
}
