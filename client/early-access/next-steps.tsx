// The numbered list beside the form: what happens after a sign-up.
import { use } from "react";
import { Icon } from "../components/icon.tsx";
import { StepMarker } from "../components/stem.tsx";
import { closedList, earlyAccess } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

export function NextSteps({ joined }: { joined: boolean }) {
  const settings = use(SettingsContext);
  const closed = import.meta.env.SSR && settings.closed && !joined;
  const done = joined || closed;
  const first = done
    ? { ...earlyAccess.joined, ...(settings.mail && { text: earlyAccess.confirm }) }
    : earlyAccess.join;
  // role: Safari takes the list's role away from a list without markers.
  return (
    <>
      <h3 className="next-title">{closed ? closedList.nextHeading : earlyAccess.nextHeading}</h3>
      <ol className="next stem" role="list">
        {[first, ...earlyAccess.laterSteps].map(({ title, text }, i) => (
          <li key={title}>
            <StepMarker>{done && i === 0 ? <Icon name="check" /> : i + 1}</StepMarker>
            <b>{title}</b>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </>
  );
}
