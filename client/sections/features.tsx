// The six feature cards: an icon, a title, a description and a picture of a result.
import type { ReactNode } from "react";
import { ExampleFigure, ExampleTag, Exchange, HiddenCaption } from "../components/example-figure.tsx";
import { Icon, type IconName } from "../components/icon.tsx";
import { StepMarker, Vine } from "../components/stem.tsx";
import { features } from "../shared/content.ts";
import { ApiExample } from "./api-example.tsx";

const { chat, migration, channels, stack, api, support } = features;

export function Features() {
  return (
    <section className="section features" aria-labelledby="features">
      <div className="page lane">
        <Vine />
        <div className="feature-grid stem">
          <h2 id="features">{features.heading}</h2>
          <ul role="list">
            <Feature icon="chat" {...chat} />
            <Feature icon="upload" {...migration}>
              <Migration />
            </Feature>
            <Feature icon="mail" {...channels}>
              <Channels />
            </Feature>
            <Feature icon="modules" {...stack}>
              <Stack />
            </Feature>
            <Feature icon="code" {...api}>
              <ApiExample />
            </Feature>
            <Feature icon="person" {...support}>
              <Support />
            </Feature>
          </ul>
        </div>
        <Vine end />
      </div>
    </section>
  );
}

interface Props {
  icon: IconName;
  title: string;
  description: string;
  /** Leads to the example in the hero. */
  link?: string;
  children?: ReactNode;
}

function Feature({ icon, title, description, link, children }: Props) {
  return (
    <li className="feature">
      <StepMarker>
        <Icon name={icon} />
      </StepMarker>
      <div>
        <h3>{title}</h3>
        <p>
          {description} {link && <a href="#demo">{link}</a>}
        </p>
      </div>
      {children}
    </li>
  );
}

function Migration() {
  return (
    <ExampleFigure icon="sheet" title={migration.label}>
      <ul className="columns" role="list">
        {migration.columns.map(([column, field]) => (
          <li key={column}>
            {column}
            <Icon name="to" />
            <span className="visually-hidden">{migration.becomes}</span>
            <b className="chip">{field}</b>
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
          {channels.sender}
          <ExampleTag hidden />
        </p>
        <b>{channels.subject}</b>
        <p>{channels.text}</p>
        <span className="email-button" aria-hidden="true">
          {channels.button}
        </span>
      </div>
      <div className="phone">
        <p className="soft">
          <span className="visually-hidden">{channels.kinds.sms}: </span>
          {channels.sender}
        </p>
        <p className="sms">{channels.sms}</p>
      </div>
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

function Support() {
  return (
    <Exchange prompt={support.question} from={support.agent}>
      <p>{support.answer}</p>
    </Exchange>
  );
}
