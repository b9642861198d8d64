// The questions and answers, in native <details> elements.
import { questions } from "../content.ts";

export function Questions() {
  return (
    <section className="section questions" aria-labelledby="questions-heading">
      <div className="page">
        <h2 id="questions-heading">{questions.heading}</h2>
        <div>
          {questions.items.map(({ question, answer }) => (
            <details key={question}>
              <summary>{question}</summary>
              <p>{answer}</p>
            </details>
          ))}
        </div>
      </div>
    </section>
  );
}
