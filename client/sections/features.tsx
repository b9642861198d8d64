// The six feature cards: an icon, a title, a description and in most an illustration.
import type { ReactNode } from "react";
import { Icon, type IconName } from "../components/icon.tsx";
import { features } from "../content.ts";

interface Props {
  icon: IconName;
  name: string;
  title: string;
  description: string;
  children?: ReactNode;
}

function FeatureCard({ icon, name, title, description, children }: Props) {
  return (
    <li className={`feature feature-${name}`}>
      <div className="feature-text">
        <Icon name={icon} />
        <h3>{title}</h3>
        <p>{description}</p>
      </div>
      {children}
    </li>
  );
}

export function Features() {
  const { chat, migration, channels, api, support, stack } = features;
  return (
    <section id="features" className="section" aria-labelledby="features-heading">
      <h2 id="features-heading">{features.heading}</h2>
      <ul className="features">
        <FeatureCard icon="chat" name="chat" {...chat}>
          <div className="sayings" aria-hidden="true">
            {chat.sayings.map((saying) => (
              <p key={saying}>{saying}</p>
            ))}
          </div>
        </FeatureCard>
        <FeatureCard icon="upload" name="migration" {...migration}>
          <div className="spreadsheet" aria-hidden="true">
            <p>{migration.file}</p>
            <div>
              {migration.columns.map((column) => (
                <span key={column}>{column}</span>
              ))}
              {Array.from({ length: 9 }, (_, cell) => (
                <i key={cell} />
              ))}
            </div>
          </div>
        </FeatureCard>
        <FeatureCard icon="send" name="channels" {...channels}>
          <div className="channels" aria-hidden="true">
            {channels.names.map((name) => (
              <p key={name}>
                {name}
                <i />
                <i />
                <i />
              </p>
            ))}
          </div>
        </FeatureCard>
        <FeatureCard icon="code" name="api" {...api}>
          <figure className="snippet">
            <figcaption id="snippet-caption">
              {api.label}: {api.request}
            </figcaption>
            {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role -- it scrolls on a phone, so it must be focusable */}
            <pre tabIndex={0} role="group" aria-labelledby="snippet-caption">
              <code>{api.code}</code>
            </pre>
          </figure>
        </FeatureCard>
        <FeatureCard icon="person" name="support" {...support} />
        <FeatureCard icon="modules" name="stack" {...stack}>
          <ul className="modules">
            {stack.modules.map((module) => (
              <li key={module}>{module}</li>
            ))}
          </ul>
        </FeatureCard>
      </ul>
    </section>
  );
}
