// The early-access form: a plain HTML form until React hydrates it, then it sends JSON and stays on the page.
import { use, useRef, useState, type FormEvent } from "react";
import { flushSync } from "react-dom";
import { failureId, privacyPath, signupPath } from "../shared/paths.ts";
import { earlyAccess, fieldErrors } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";
import { correctEmail, EmailInput, loadSuggestions } from "./email-input.tsx";
import { fieldId, FieldInput } from "./field-input.tsx";
import { fields, honeypot } from "../shared/fields.ts";
import { FormFailureContext, isKeyOf } from "../shared/landing-state.ts";
import { join, type Failure } from "./join.ts";

type State = { step: "idle" | "sending" } | ({ step: "failed" } & Failure);

interface Props {
  /** Whether the form stands beside a success. */
  again: boolean;
  /** Whether the visitor has just undone a sign-up. */
  undone: boolean;
  /** Called when the sign-up is stored. `moveFocus` is false if the visitor has moved focus out of the form. */
  onJoined: (moveFocus: boolean, undoToken: string | undefined) => void;
}

/** The id of the message after an undo, which gets focus. */
export const undoneId = "early-access-undone";

const loadToasts = () => import("./toasts.tsx").catch(() => undefined); // Without toasts, the form still shows the result.

function preload() {
  void loadToasts();
  void loadSuggestions();
}

/**
 * Leaves the refusal to submit(). It corrects an address that Enter or autofill sends without a blur, and says what is wrong: Firefox
 * for Android and other browsers on GeckoView refuse an invalid field without a message.
 */
function validateInSubmit(form: HTMLFormElement | null) {
  if (form) form.noValidate = true;
}

/** Returns the server's text for each field that the browser refuses. */
function findErrors(form: HTMLFormElement): Failure["errors"] {
  const errors: Failure["errors"] = {};
  for (const { name, noun } of fields) {
    const { validity } = form.elements.namedItem(name) as HTMLInputElement;
    if (validity.valueMissing) errors[name] = fieldErrors.required(noun);
    else if (!validity.valid) errors[name] = fieldErrors.email;
  }
  return errors;
}

export function EarlyAccessForm({ again, undone, onJoined }: Props) {
  const failure = use(FormFailureContext);
  const { contact, mail, notice } = use(SettingsContext);
  const [state, setState] = useState<State>({ step: "idle" });
  const isSending = useRef(false); // The state changes only with the next render, too late for a double click.
  const errors = failure?.errors ?? (state.step === "failed" ? state.errors : {});
  const hasFailed = state.step === "failed" && Object.keys(errors).length === 0;

  async function submit(event: FormEvent<HTMLFormElement>) {
    if (isSending.current) return event.preventDefault();
    const form = event.currentTarget;
    correctEmail(form.elements.namedItem("email") as HTMLInputElement);
    if (!form.checkValidity()) {
      event.preventDefault();
      return showFailure(form, { reason: "failure", text: "", errors: findErrors(form) });
    }
    const focusedBefore = document.activeElement;
    const joining = join(Object.fromEntries(new FormData(form)), document.referrer);
    event.preventDefault(); // Not earlier: if the browser cannot create the request, it sends the plain form.
    isSending.current = true;
    setState({ step: "sending" });
    const result = await joining;
    isSending.current = false;
    if (!result) {
      setState({ step: "idle" }); // The browser's Back button returns to the form.
      return form.submit();
    }
    // Move focus to the result, unless the visitor has moved it out of the form. The disabled button lost focus; in Safari, a click
    // focuses no button, but its nearest focusable ancestor; voice control leaves focus where it was.
    const focused = document.activeElement;
    const moveFocus = !focused || focused === focusedBefore || focused.contains(form) || form.contains(focused);
    if (result.ok) onJoined(moveFocus, result.undo);
    else showFailure(form, result, moveFocus);
    const toasts = await loadToasts();
    toasts?.showToast(result.ok ? "success" : result.reason, { announce: !moveFocus });
  }

  /** Renders synchronously, so that the field that gets focus has its error. */
  function showFailure(form: HTMLFormElement, shown: Failure, moveFocus = true) {
    flushSync(() => setState({ step: "failed", ...shown }));
    if (moveFocus) form.querySelector<HTMLElement>("[aria-invalid], [type=submit]")?.focus();
  }

  /** Removes the error of a field whose value the browser now accepts. Only the server can check the other rules. */
  function clearError({ target }: FormEvent<HTMLFormElement>) {
    const { name, value, required, validity } = target as HTMLInputElement;
    const isCorrected = validity.valid && !(required && value.trim() === "");
    if (state.step !== "failed" || !isKeyOf(errors, name) || !errors[name] || !isCorrected) return;
    const rest = { ...errors, [name]: undefined };
    setState(Object.values(rest).some(Boolean) ? { ...state, errors: rest } : { step: "idle" });
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the events of its fields
    <form
      ref={validateInSubmit}
      className="form form-card"
      aria-label={earlyAccess.button}
      method="post"
      action={`${signupPath}#${failureId}`}
      onSubmit={submit}
      onInput={clearError}
      onFocus={preload}
    >
      {again && <h3>{earlyAccess.again}</h3>}
      {failure?.summary}
      {undone && (
        <p id={undoneId} className="undone" tabIndex={-1}>
          {`${earlyAccess.undone}${contact ? earlyAccess.writeToUs : "."}`}
        </p>
      )}
      {fields.map((field) => {
        const Input = field.type === "email" ? EmailInput : FieldInput;
        return (
          <Input
            key={field.name}
            field={field}
            error={errors[field.name]}
            value={failure?.values?.[field.name]}
            readOnly={state.step === "sending"}
          />
        );
      })}
      {Object.entries(failure?.source ?? {}).map(
        ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
      )}
      <input type="hidden" name="notice" value={notice} />
      <div className="visually-hidden" aria-hidden="true">
        <label htmlFor={fieldId(honeypot)}>{earlyAccess.honeypot}</label>
        <input id={fieldId(honeypot)} name={honeypot} tabIndex={-1} autoComplete="off" />
      </div>
      <button
        className={again ? "button button-quiet" : "button"}
        type="submit"
        disabled={state.step === "sending"}
        aria-describedby={hasFailed ? "early-access-failure" : undefined}
      >
        {state.step === "sending" ? earlyAccess.sending : earlyAccess.button}
      </button>
      <output className="visually-hidden">{state.step === "sending" && earlyAccess.sending}</output>
      {hasFailed && (
        <p id="early-access-failure" className="field-error">
          {state.text}
        </p>
      )}
      <p className="undo-promise">{mail ? earlyAccess.leaveByMail : earlyAccess.leaveByButton}</p>
      <p className="note">
        {/* One string for each text node: React separates two by a comment, which some proxies strip. */}
        {`${earlyAccess.privacy} `}
        <a href={privacyPath}>{earlyAccess.privacyLink}</a>
        {contact && (
          <>
            {`. ${earlyAccess.deletion} `}
            <a href={`mailto:${contact}`}>{contact}</a>.
          </>
        )}
      </p>
    </form>
  );
}
