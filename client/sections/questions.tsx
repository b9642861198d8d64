// The questions and answers, in native <details> elements.
import { privacyPath } from "../addresses.ts";
import { questions } from "../content.ts";

export function Questions() {
  return (
    <section className="section questions" aria-labelledby="questions-heading">
      <div className="page">
        <h2 id="questions-heading">{questions.heading}</h2>
        <div>
          {questions.items.map(({ question, answer, link }) => (
            <details key={question}>
              <summary>{question}</summary>
              <p>
                {answer} {link && <a href={privacyPath}>{link}</a>}
              </p>
            </details>
          ))}
        </div>
      </div>
    </section>
  );
}
