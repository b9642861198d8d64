// The dated list beside the form: what happens after a sign-up.
import { use } from "react";
import { Icon } from "../components/icon.tsx";
import { StepMarker } from "../components/stem.tsx";
import { closedList, earlyAccess } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

export function NextSteps({ joined = false }: { joined?: boolean }) {
  const settings = use(SettingsContext);
  const closed = import.meta.env.SSR && settings.closed && !joined;
  const done = joined || closed;
  const first = done ? earlyAccess.joined : earlyAccess.join;
  const second = joined ? earlyAccess.betaJoined : earlyAccess.beta;
  // role: Safari takes the list's role away from a list without markers.
  return (
    <div className="next">
      <h3>{closed ? closedList.nextHeading : earlyAccess.nextHeading}</h3>
      <ol className="stem" role="list">
        {[first, second, ...earlyAccess.offer].map(({ when, what }, i) => (
          <li key={what}>
            <StepMarker>{done && i === 0 && <Icon name="check" />}</StepMarker>{" "}
            {!(closed && i === 0) && <span className="soft note">{when}</span>} <b>{what}</b>
          </li>
        ))}
      </ol>
    </div>
  );
}
