// The email field, with the question whether the visitor meant a similar address. The question never blocks the form.
import { useEffect, useRef, useState } from "react";
import { earlyAccess } from "../shared/content.ts";
import { cleanEmail } from "../shared/fields.ts";
import { FieldInput, fieldId, type FieldInputProps } from "./field-input.tsx";

/** Without suggestions, the field takes every address. */
export const loadSuggestions = () => import("../shared/suggested-email.ts").catch(() => undefined);

/** Corrects an address that the browser would refuse. */
export function correctEmail(input: HTMLInputElement) {
  if (input.validity.typeMismatch) input.value = cleanEmail(input.value);
}

export function EmailInput(props: FieldInputProps) {
  const [suggestion, setSuggestion] = useState<string>();
  const kept = useRef("");

  async function ask(input: HTMLInputElement) {
    correctEmail(input);
    const suggestions = await loadSuggestions();
    // The visitor is typing again, or presses the button, which must not move.
    if (document.activeElement === input || input.form?.querySelector("[type=submit]:active")) return;
    const email = input.value.trim().toLowerCase();
    if (email !== kept.current) setSuggestion(suggestions?.suggestEmail(email));
  }

  // The visitor may have left the field before the page was hydrated.
  useEffect(() => {
    const input = document.getElementById(fieldId("email")) as HTMLInputElement;
    if (input.value !== "") void ask(input);
    // oxlint-disable-next-line react/exhaustive-effect-dependencies, react-hooks/exhaustive-deps -- once, after hydration
  }, []);

  function answer(email?: string) {
    const input = document.getElementById(fieldId("email")) as HTMLInputElement;
    if (email) input.value = email;
    else kept.current = input.value.trim().toLowerCase();
    input.dispatchEvent(new Event("input", { bubbles: true })); // Removes the question, and the error of the field.
    input.focus();
  }

  const shown = props.readOnly ? undefined : suggestion;
  const at = shown?.lastIndexOf("@");
  return (
    <FieldInput
      {...props}
      onInput={() => setSuggestion(undefined)}
      onBlur={({ currentTarget }) => void ask(currentTarget)}
    >
      <div className={shown ? "suggestion" : "visually-hidden"}>
        {/* Only the domain differs from what the visitor sees. An element with a key: React cannot change a translated text. */}
        <output>
          {shown && (
            <span key={shown}>
              {earlyAccess.didYouMean} <span className="visually-hidden">{shown.slice(0, at)}</span>
              {shown.slice(at)}?
            </span>
          )}
        </output>
        {shown && (
          <div className="suggestion-answers">
            <button className="button button-small" type="button" onClick={() => answer(shown)}>
              {earlyAccess.answers.use}
            </button>
            <button className="button button-quiet button-small" type="button" onClick={() => answer()}>
              {earlyAccess.answers.keep}
            </button>
          </div>
        )}
      </div>
    </FieldInput>
  );
}
