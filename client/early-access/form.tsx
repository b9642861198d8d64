// The early-access form: a plain HTML form until React hydrates it, then it sends JSON and stays on the page.
import { use, useEffect, useRef, useState, type FormEvent } from "react";
import { useSearchParams } from "react-router-dom";
import { signupPath } from "../addresses.ts";
import { earlyAccess } from "../content.ts";
import { FailureSummary } from "./failure-summary.tsx";
import { fieldId, FieldInput } from "./field-input.tsx";
import { fields, honeypot } from "./fields.ts";
import { FormFailureContext } from "./form-failure.ts";
import { join, type FieldErrors } from "./join.ts";

type State = { step: "idle" | "sending" | "joined" } | { step: "failed"; errors: FieldErrors };

const loadToasts = () => import("./notify.tsx");

export function EarlyAccessForm() {
  const failedPost = use(FormFailureContext);
  const [query] = useSearchParams();
  const [state, setState] = useState<State>({ step: "idle" });
  const isSending = useRef(false); // The state changes only with the next render, too late for a double click.
  const form = useRef<HTMLFormElement>(null);
  const confirmation = useRef<HTMLHeadingElement>(null);
  const joined = state.step === "joined" || (state.step === "idle" && query.has("joined"));
  const errors = failedPost?.errors ?? (state.step === "failed" ? state.errors : {});

  async function submit(event: FormEvent) {
    event.preventDefault();
    if (isSending.current || !form.current) return;
    isSending.current = true;
    setState({ step: "sending" });
    const result = await join(Object.fromEntries(new FormData(form.current)), document.referrer);
    isSending.current = false;
    if (result.ok) form.current?.reset();
    setState(result.ok ? { step: "joined" } : { step: "failed", errors: result.errors });
    const toasts = await loadToasts().catch(() => undefined); // Without toasts, the form still shows the result.
    if (result.ok) toasts?.notifySuccess();
    else toasts?.notifyFailure();
  }

  useEffect(() => {
    if (state.step !== "joined" && state.step !== "failed") return;
    // The disabled button lost focus. Move focus to the result, unless the visitor has moved it out of the form.
    const current = document.activeElement;
    if (current !== document.body && !form.current?.contains(current)) return;
    if (state.step === "joined") return confirmation.current?.focus();
    const invalid = form.current?.querySelector<HTMLElement>("[aria-invalid]");
    (invalid ?? form.current?.querySelector("button"))?.focus();
  }, [state]);

  return (
    <div className="form-card">
      {joined ? (
        <div className="joined">
          <h3 ref={confirmation} tabIndex={-1}>
            {earlyAccess.success.title}
          </h3>
          <p>{earlyAccess.success.text}</p>
          <p>{earlyAccess.success.next}</p>
        </div>
      ) : (
        <p className="lead">{earlyAccess.lead}</p>
      )}
      {failedPost && <FailureSummary failure={failedPost} />}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- only preloads the toasts */}
      <form
        ref={form}
        method="post"
        action={signupPath}
        onSubmit={submit}
        onFocus={() => void loadToasts().catch(() => undefined)}
      >
        <p className="note">{earlyAccess.requiredNote}</p>
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            error={errors[field.name]}
            value={failedPost?.values?.[field.name]}
            readOnly={state.step === "sending"}
          />
        ))}
        {Object.entries(failedPost?.source ?? {}).map(
          ([name, value]) => value && <input key={name} type="hidden" name={name} value={value} />,
        )}
        <div className="visually-hidden" aria-hidden="true">
          <label htmlFor={fieldId(honeypot)}>{earlyAccess.honeypot}</label>
          <input id={fieldId(honeypot)} name={honeypot} tabIndex={-1} autoComplete="off" />
        </div>
        <button
          className="button"
          type="submit"
          disabled={state.step === "sending"}
          aria-describedby={state.step === "failed" ? "early-access-failure" : undefined}
        >
          {state.step === "sending" ? earlyAccess.sending : earlyAccess.button}
        </button>
        <output className="visually-hidden">{state.step === "sending" && earlyAccess.sending}</output>
        {state.step === "failed" && (
          <p id="early-access-failure" className="field-error">
            {earlyAccess.failure.text}
          </p>
        )}
        <p className="note">{earlyAccess.privacy}</p>
      </form>
    </div>
  );
}
