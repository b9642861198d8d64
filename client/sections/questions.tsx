// The questions and answers, in native <details> elements.
import { use } from "react";
import { privacyPath } from "../shared/addresses.ts";
import { Vine } from "../components/stem.tsx";
import { closedList, questions } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

export function Questions() {
  const closed = use(SettingsContext).closed;
  const items = closed ? questions.items.filter(({ joining }) => !joining) : questions.items;
  return (
    <section className="section questions" aria-labelledby="questions-heading">
      <div className="page lane">
        <Vine />
        <h2 id="questions-heading">{closed ? closedList.questionsHeading : questions.heading}</h2>
        <div>
          {items.map(({ question, answer, link }) => (
            <details key={question}>
              <summary>{question}</summary>
              <p>
                {answer} {link && <a href={privacyPath}>{link}</a>}
              </p>
            </details>
          ))}
        </div>
        <Vine end />
      </div>
    </section>
  );
}
