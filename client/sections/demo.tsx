// The product example in the hero: a sentence becomes a segment, a loyalty rule and an email flow.
import { Icon, type IconName } from "../components/icon.tsx";
import { Mark } from "../components/logo.tsx";
import { demo } from "../content.ts";

const words = demo.sentence.split(" ").map((word, position) => ({ word, position }));
const { segment, rule, flow } = demo.results;

function Kind({ icon, name }: { icon: IconName; name: string }) {
  return (
    <p className="demo-kind">
      <Icon name={icon} />
      {name}
    </p>
  );
}

/** Screen readers get one description in place of the parts. */
export function Demo() {
  return (
    <figure className="demo">
      <figcaption className="visually-hidden">{demo.description}</figcaption>
      <div className="demo-window" aria-hidden="true">
        <p className="demo-label">{demo.label}</p>
        <p className="demo-sentence">
          {words.map(({ word, position }) => (
            <span key={position}>{word} </span>
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
            <p>
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
