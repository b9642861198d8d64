// The numbered list beside the form: what happens after a sign-up.
import { use } from "react";
import { Icon } from "../components/icon.tsx";
import { StepMarker } from "../components/stem.tsx";
import { closedList, earlyAccess } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

export function NextSteps({ joined }: { joined: boolean }) {
  const closed = import.meta.env.SSR && use(SettingsContext).closed && !joined;
  const done = joined || closed;
  const first = { title: done ? earlyAccess.joined : earlyAccess.join, text: undefined };
  const second = { title: joined ? earlyAccess.betaJoined : earlyAccess.beta, text: undefined };
  // role: Safari takes the list's role away from a list without markers.
  return (
    <div className="next">
      <h3>{closed ? closedList.nextHeading : earlyAccess.nextHeading}</h3>
      <ol className="stem" role="list">
        {[first, second, earlyAccess.reward].map(({ title, text }, i) => (
          <li key={title}>
            <StepMarker>{done && i === 0 ? <Icon name="check" /> : i + 1}</StepMarker> <b>{title}</b>{" "}
            {text && <span className="soft">{text}</span>}
          </li>
        ))}
      </ol>
    </div>
  );
}
