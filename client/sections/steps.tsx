// The three steps from a sentence to a running program.
import { steps } from "../content.ts";

export function Steps() {
  return (
    <section className="section" aria-labelledby="steps-heading">
      <h2 id="steps-heading">{steps.heading}</h2>
      <ol className="steps">
        {steps.items.map(({ title, text }) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
