// The product in the hero: a sentence becomes a segment, a loyalty rule and an email flow. Its styles move it.
import { Icon, type IconName } from "../components/icon.tsx";
import { Mark } from "../components/mark.tsx";
import { demo } from "../content.ts";

const words = demo.sentence.split(" ").map((word, place) => ({ word, place }));
const { segment, rule, flow } = demo.results;

function Kind({ icon, name }: { icon: IconName; name: string }) {
  return (
    <p className="demo-kind">
      <Icon name={icon} />
      {name}
    </p>
  );
}

/** Screen readers get one description; the parts would be noise. */
export function Demo() {
  return (
    <figure className="demo">
      <figcaption className="heard">{demo.description}</figcaption>
      <div className="demo-window" aria-hidden="true">
        <p className="demo-label">{demo.label}</p>
        <p className="demo-sentence">
          {words.map(({ word, place }) => (
            <span key={place}>{word} </span>
          ))}
        </p>
        <p className="demo-reply">
          <Mark />
          {demo.reply}
        </p>
        <ul className="demo-results">
          <li>
            <Kind icon="person" name={segment.kind} />
            <p className="demo-title">{segment.title}</p>
            <p className="demo-chips">
              {segment.rules.map((text) => (
                <span key={text}>{text}</span>
              ))}
            </p>
          </li>
          <li>
            <Kind icon="leaf" name={rule.kind} />
            <p className="demo-rule">
              {rule.trigger} <b>{rule.event}</b> {rule.action} <b>{rule.reward}</b>
            </p>
          </li>
          <li>
            <Kind icon="send" name={flow.kind} />
            <p className="demo-flow">
              {flow.messages.map((text) => (
                <span key={text}>{text}</span>
              ))}
            </p>
          </li>
        </ul>
      </div>
    </figure>
  );
}
