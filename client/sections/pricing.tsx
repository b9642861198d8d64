// The pricing section: the founding offer, four plans, and what all of them include.
import { use } from "react";
import { Icon } from "../components/icon.tsx";
import { Leaf, Vine } from "../components/stem.tsx";
import { closedList, pricing } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

export function Pricing() {
  const closed = use(SettingsContext).closed;
  return (
    <section className="section pricing" aria-labelledby="pricing">
      <div className="page lane">
        <Vine />
        <h2 id="pricing">{pricing.heading}</h2>
        <div className="offer">
          <h3>{pricing.offerHeading}</h3>
          <p>{closed ? closedList.offer : pricing.offer}</p>
        </div>
        <ul className="plans" role="list">
          {pricing.plans.map((plan, i) => (
            <li key={plan.name} className="plan">
              <Plant leaves={i + 1} />
              <h3>{plan.name}</h3>
              <p className="plan-users">
                <b>{plan.users}</b> {pricing.users}
              </p>
              <p className="plan-price">
                <strong>{plan.price}</strong> <span className="soft">{pricing.period}</span>
              </p>
              <dl>
                {(["emails", "sms"] as const).map((limit) => (
                  <div key={limit}>
                    <dt>{pricing.limits[limit]}</dt>
                    <dd>{plan[limit]}</dd>
                  </div>
                ))}
              </dl>
            </li>
          ))}
        </ul>
        <div className="all-plans">
          <h3>{pricing.allHeading}</h3>
          <ul role="list">
            {pricing.all.map((text) => (
              <li key={text}>
                <Icon name="check" />
                {text}
              </li>
            ))}
          </ul>
        </div>
        <Vine end />
      </div>
    </section>
  );
}

/** In units of the drawing: between two leaves, and below the lowest leaf. */
const internode = 24;
const stalk = 46;

function Plant({ leaves }: { leaves: number }) {
  const height = (leaves - 1) * internode + stalk;
  return (
    <svg className="plant" width="96" height="130" viewBox="0 0 96 130" aria-hidden="true">
      <path className="shoot" d={`M48 130V${130 - height}`} />
      {Array.from({ length: leaves }, (_, i) => (
        <Leaf key={i} transform={`translate(48 ${130 - height + i * internode})${i % 2 === 1 ? " scale(-1 1)" : ""}`} />
      ))}
    </svg>
  );
}
