// The six feature cards along the stem: from plain words to a campaign on the dark ground, then support, the API and the stack.
import type { ReactNode } from "react";
import { business, ExampleFigure, HiddenCaption } from "../components/example-figure.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { StepMarker, Vine } from "../components/stem.tsx";
import { demo, features } from "../shared/content.ts";
import { Rule } from "./demo.tsx";

const { chat, migration, channels, api, support, stack } = features;

export function Features() {
  return (
    <section className="section features" aria-labelledby="features">
      <div className="bed">
        <div className="page lane">
          <div className="features-head">
            <h2 id="features">{features.heading}</h2>
            <Vine />
          </div>
          <ul className="stem" role="list">
            <Feature icon="chat" {...chat}>
              <Chat />
            </Feature>
            <Feature icon="upload" {...migration}>
              <Migration />
            </Feature>
            <Feature icon="mail" {...channels}>
              <Channels />
            </Feature>
          </ul>
          <Vine end />
        </div>
      </div>
      <div className="page lane">
        <Vine />
        <ul className="stem" role="list">
          <Feature icon="person" {...support}>
            <Support />
          </Feature>
          <Feature icon="code" {...api}>
            <ApiExample />
          </Feature>
          <Feature icon="modules" {...stack}>
            <Stack />
          </Feature>
        </ul>
        <Vine end />
      </div>
    </section>
  );
}

interface Props {
  icon: IconName;
  title: string;
  description: string;
  children: ReactNode;
}

function Feature({ icon, title, description, children }: Props) {
  return (
    <li className="feature">
      <StepMarker>
        <Icon name={icon} />
      </StepMarker>
      <div>
        <h3>{title}</h3>
        <p className="soft">{description}</p>
      </div>
      {children}
    </li>
  );
}

/** A second sentence, which changes the rule of the hero's first one. */
function Chat() {
  const [first] = demo.examples as [(typeof demo.examples)[number]];
  return (
    <figure>
      <HiddenCaption />
      <p className="prompt">{chat.sentence}</p>
      <Rule
        {...first}
        kind={`${demo.rule.kind}: ${first.name}`}
        reward={first.rewards[0]}
        limit={<u>{chat.limit}</u>}
      />
    </figure>
  );
}

function Migration() {
  return (
    <ExampleFigure icon="sheet" title={migration.label} tagged>
      <ul className="columns" role="list">
        {migration.columns.map(([column, field]) => (
          <li key={column}>
            {column} <Icon name="to" />
            <span className="visually-hidden">{migration.becomes}</span> <b className="chip">{field}</b>
          </li>
        ))}
      </ul>
    </ExampleFigure>
  );
}

function Channels() {
  return (
    <figure className="messages">
      <HiddenCaption />
      <div className="example-figure email-body">
        <p className="soft">
          <span className="visually-hidden">{channels.kinds.email}: </span>
          {business}
        </p>
        <b>{channels.subject}</b>
        <p>{channels.text}</p>
        <span className="email-button" aria-hidden="true">
          {channels.button}
        </span>
      </div>
      <p className="sms">
        <span className="visually-hidden">{channels.kinds.sms}: </span>
        {business}
        {channels.sms}
      </p>
    </figure>
  );
}

function Support() {
  return (
    <figure>
      <HiddenCaption />
      <p className="prompt">{support.question}</p>
      <div className="example-figure answer">
        <p className="kind">{support.agent}</p>
        <p>{support.answer}</p>
      </div>
    </figure>
  );
}

function ApiExample() {
  return (
    <figure className="code bed">
      <HiddenCaption />
      <p>{api.prompt}</p>
      <pre>
        <code>
          <i>fetch</i>(<b>"https://api.example/crm"</b>, {"{\n  method: "}
          <b>"POST"</b>
          {",\n  body: JSON.stringify(customer),\n});"}
        </code>
      </pre>
      <pre>
        <code>
          <u>{api.status}</u>
          {'\n{ "id": '}
          <b>"c_1029"</b>
          {',\n  "points": 0 }'}
        </code>
      </pre>
    </figure>
  );
}

function Stack() {
  return (
    <ExampleFigure icon="people" title={stack.customer}>
      <dl className="modules">
        {stack.modules.map(([module, value]) => (
          <div key={module}>
            <dt>{module}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </ExampleFigure>
  );
}
