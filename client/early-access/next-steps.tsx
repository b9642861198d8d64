// The numbered list beside the form: what happens after a sign-up.
import { use } from "react";
import { Icon } from "../components/icon.tsx";
import { Twig } from "../components/stem.tsx";
import { earlyAccess } from "../content.ts";
import { SettingsContext } from "../site-settings.ts";

export function NextSteps({ joined }: { joined: boolean }) {
  const { mail } = use(SettingsContext);
  const first = joined ? { ...earlyAccess.joined, ...(mail && { text: earlyAccess.confirm }) } : earlyAccess.join;
  // role: Safari takes the list's role away from a list without markers.
  return (
    <>
      <h3 className="next-title">{earlyAccess.nextHeading}</h3>
      <ol className="next stem" role="list">
        {[first, ...earlyAccess.laterSteps].map(({ title, text }, i) => (
          <li key={title}>
            <Twig>{joined && i === 0 ? <Icon name="check" /> : i + 1}</Twig>
            <b>{title}</b>
            <span>{text}</span>
          </li>
        ))}
      </ol>
    </>
  );
}
