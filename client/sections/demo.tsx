// The product example in the hero: a sentence becomes a segment, a loyalty rule and an email.
import { ExampleTag } from "../components/example-figure.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { Mark } from "../components/logo.tsx";
import { demo } from "../shared/content.ts";

const { app, sentence, segment, rule, email } = demo;
const views: IconName[] = ["chat", "people", "gift", "flow"];

/** Screen readers get one description in place of the parts. */
export function Demo() {
  return (
    <figure className="demo">
      <figcaption className="visually-hidden">{demo.description}</figcaption>
      <div aria-hidden="true">
        <div className="demo-window example-figure">
          <p className="example-figure-head">
            <Mark />
            <b>{app.title}</b>
            <ExampleTag />
          </p>
          <ul className="demo-views">
            {app.views.map((name, i) => (
              <li key={name}>
                <Icon name={views[i] as IconName} />
                {name}
              </li>
            ))}
          </ul>
          <div className="demo-chat">
            <Composer />
            <Segment />
          </div>
        </div>
        <div className="demo-results">
          <Rule />
          <Email />
        </div>
      </div>
    </figure>
  );
}

function Composer() {
  return (
    <div className="composer">
      <p>
        {sentence.action} <br className="phone" />
        {sentence.in} <u>{sentence.condition}</u> <br className="wide" />
        {sentence.and} <u>{sentence.reward}</u> <br className="phone" />
        {sentence.end} <span className="seed">{sentence.lastWord}</span>
      </p>
      <p className="composer-foot">
        <Icon name="clip" />
        <b>{app.file}</b>
        <span>
          <Icon name="up" />
        </span>
      </p>
    </div>
  );
}

function Segment() {
  return (
    <div className="segment">
      <div className="segment-head">
        <Kind icon="people" name={segment.kind} />
        <b>{segment.title}</b>
        <span className="chip">
          {segment.field} <u>{segment.condition}</u> {segment.tense}
        </span>
      </div>
      <table>
        <thead>
          <tr>
            {segment.columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {segment.customers.map((cells) => (
            <tr key={cells[0]}>
              {cells.map((cell, i) => (
                <td key={segment.columns[i]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Rule() {
  return (
    <div className="rule example-figure">
      <Kind icon="gift" name={rule.kind} />
      <dl>
        <dt>{rule.trigger}</dt>
        <dd>
          {rule.who} <span className="chip">{segment.title}</span> {rule.does}
        </dd>
        <dt>{rule.effect}</dt>
        <dd>
          {rule.action} <u>{sentence.reward}</u> {rule.to}
        </dd>
      </dl>
    </div>
  );
}

function Email() {
  return (
    <div className="email example-figure">
      <p className="example-figure-head">
        <Kind icon="mail" name={email.kind} />
        <span className="soft">{email.to}</span>
      </p>
      <div className="email-body">
        <p className="soft">{email.from}</p>
        <b>{email.subject}</b>
        <p>{email.text}</p>
        <span className="email-button">{email.button}</span>
      </div>
    </div>
  );
}

function Kind({ icon, name }: { icon: IconName; name: string }) {
  return (
    <span className="kind">
      <Icon name={icon} />
      {name}
    </span>
  );
}
