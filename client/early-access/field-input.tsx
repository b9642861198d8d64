// One field of the form with its label and its error.
import type { FocusEventHandler, InputEventHandler, ReactNode } from "react";
import type { Field } from "../shared/fields.ts";

export interface FieldInputProps {
  field: Field;
  error: string | undefined;
  value: string | undefined;
  /** True while the form is being sent: after the success, a new form replaces it, without what the visitor types. */
  readOnly: boolean;
  onInput?: InputEventHandler<HTMLInputElement>;
  onBlur?: FocusEventHandler<HTMLInputElement>;
  /** Shown below the field. */
  children?: ReactNode;
}

/** The selector of a field's control, as in the stylesheets. Its value is one text: neither radio buttons nor a checkbox. */
export const control = ":is(input, select, textarea)";

export function fieldId(name: string): string {
  return `early-access-${name}`;
}

export function FieldInput({ field, error, value, children, ...inputProps }: FieldInputProps) {
  const { name, label, type, required, autoComplete } = field;
  const id = fieldId(name);
  const errorId = `${id}-error`;
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...inputProps}
        id={id}
        name={name}
        type={type}
        required={required}
        autoComplete={autoComplete}
        dir="auto"
        spellCheck={false} // Chrome's enhanced check sends the text to Google.
        defaultValue={value}
        aria-invalid={error ? true : undefined}
        aria-describedby={error ? errorId : undefined}
      />
      {error && (
        <p id={errorId} className="field-error">
          {error}
        </p>
      )}
      {children}
    </div>
  );
}
