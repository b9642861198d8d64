// The product example in the hero: the visitor chooses and changes a sentence, which becomes a segment, a loyalty rule and an email.
import { Fragment, type ReactNode } from "react";
import { business, ExampleTag, HiddenCaption } from "../components/example-figure.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { demo } from "../shared/content.ts";

type Example = (typeof demo.examples)[number];

const sender = <u>{business}</u>;

const choiceId = (index: number) => `sentence-${index % demo.examples.length}`;

/** The style sheet shows the example whose radio button is checked. */
export function Demo() {
  return (
    <figure className="demo">
      <HiddenCaption />
      <div className="demo-window example-figure">
        <fieldset className="choices">
          {/* Safari lays out a visible legend on the edge of its fieldset. */}
          <legend className="visually-hidden">{demo.legend}</legend>{" "}
          {/* Without JavaScript it is read-only. It has no name: neither a form nor a password manager takes it for theirs. */}
          <label className="business-input" data-name={demo.business}>
            <span className="visually-hidden">{demo.businessLabel}</span>
            <input
              defaultValue={demo.business}
              placeholder={demo.business}
              maxLength={200} // Longer than any name. A browser would lay out a paste of a megabyte for seconds.
              dir="auto"
              translate="no"
              autoComplete="off"
              spellCheck={false}
              readOnly
            />
            <Icon name="edit" /> <span className="business-hint">{demo.businessHint}</span>
          </label>{" "}
          <div className="choices-end">
            <ExampleTag />
            <div className="sentences">
              {demo.examples.map(({ name }, i) => (
                <label key={name}>
                  <input type="radio" id={choiceId(i)} name="sentence" value={i} defaultChecked={i === 0} />
                  <span>{name}</span>
                </label>
              ))}
            </div>
          </div>
        </fieldset>
        {demo.examples.map((example, i) => (
          <div key={example.name} className={`demo-chat of-${i}`}>
            <Composer {...example} next={choiceId(i + 1)} />
            <Segment {...example} />
          </div>
        ))}
      </div>
      {demo.examples.map((example, i) => (
        <div key={example.name} className={`demo-results of-${i}`}>
          <Rule {...example} kind={demo.rule.kind} reward={<Value kind="reward" values={example.rewards} />} />
          <Email {...example} />
        </div>
      ))}
    </figure>
  );
}

interface ComposerProps extends Example {
  /** The id of the choice that the send button makes. */
  next: string;
}

function Composer({ sentence, conditions, rewards, next }: ComposerProps) {
  const [action, preposition, and, end, lastWord] = sentence;
  return (
    <div className="composer">
      <p>
        {action} {preposition} <Choice kind="condition" values={conditions} /> {and}{" "}
        <Choice kind="reward" values={rewards} /> {end} <span className="seed">{lastWord}</span>
      </p>
      <label className="send" htmlFor={next}>
        <Icon name="up" />
      </label>
    </div>
  );
}

interface ValueProps {
  kind: keyof typeof demo.values;
  values: string[];
}

/** A value of a sentence, which the visitor can change. */
function Choice({ kind, values }: ValueProps) {
  return (
    <u>
      <span>{values[0]}</span>{" "}
      {values.length > 1 && (
        <select className={kind} aria-label={demo.values[kind]} hidden>
          {values.map((value) => (
            <option key={value}>{value}</option>
          ))}
        </select>
      )}
    </u>
  );
}

/** A value in a result. The style sheet shows the chosen one. */
function Value({ kind, values }: ValueProps) {
  return (
    <u className={kind}>
      {values.map((value, i) => (
        <Fragment key={value}>
          <span hidden={i > 0}>{value}</span>{" "}
        </Fragment>
      ))}
    </u>
  );
}

function Segment({ title, filter, conditions, columns, customers }: Example) {
  return (
    <div className="segment">
      <div className="segment-head">
        <span className="soft segment-sender">{sender}</span> <Kind icon="people" name={demo.segment} /> <b>{title}</b>{" "}
        <span className="chip">
          {filter} <Value kind="condition" values={conditions} />
        </span>
      </div>
      <table>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column}>{column}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {customers.map((cells) => (
            <tr key={cells[0]}>
              {cells.map((cell, i) => (
                <td key={columns[i]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

interface RuleProps extends Pick<Example, "title" | "action"> {
  kind: string;
  reward: ReactNode;
  /** What a second sentence adds to the condition. */
  limit?: ReactNode;
}

export function Rule({ title, action: [verb, rest], kind, reward, limit }: RuleProps) {
  const { trigger, who, does, effect } = demo.rule;
  return (
    <div className="rule example-figure">
      <Kind icon="gift" name={kind} />
      <dl>
        <dt>{trigger}</dt>
        <dd>
          {who} <span className="chip">{title}</span> {does} {limit}
        </dd>
        <dt>{effect}</dt>
        <dd>
          {verb} {reward} {rest}
        </dd>
      </dl>
    </div>
  );
}

function Email({ title, subject: [start, rest], text, rewards, button }: Example) {
  const reward = <Value kind="reward" values={rewards} />;
  return (
    <div className="email example-figure">
      <p className="example-figure-head">
        <Kind icon="mail" name={demo.email.kind} />{" "}
        <span className="soft">
          <span className="to">
            {demo.email.to} {title}
          </span>{" "}
          <span className="from">{sender}</span>
        </span>
      </p>
      <div className="email-body">
        <p className="soft">{sender}</p>
        <b>
          {start} {rest && reward} {rest}
        </b>
        <p>
          {text} {reward}.
        </p>
        <span className="email-button">{button}</span>
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
