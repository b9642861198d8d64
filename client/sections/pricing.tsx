// The pricing section: the founding offer, the plans, and what all of them include.
import { use } from "react";
import { Icon } from "../components/icon.tsx";
import { Leaf, Vine } from "../components/stem.tsx";
import { closedList, pricing } from "../shared/content.ts";
import { SettingsContext } from "../shared/site-settings.ts";

/** As many fit beside each other on a wide page. More are a list at every width. */
const mostInRow = 4;

export function Pricing() {
  const closed = use(SettingsContext).closed;
  const inRow = pricing.plans.length <= mostInRow;
  return (
    <section className={inRow ? "section pricing plans-in-row" : "section pricing"} aria-labelledby="pricing">
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

/** In units of the drawing: between two leaves, below the highest leaf's top, and above it in the tallest plant. */
const internode = 24;
const stalk = 46;
const air = 12;

/** All plants have drawings of one height, in which the tallest one fits. */
function Plant({ leaves }: { leaves: number }) {
  const height = (pricing.plans.length - 1) * internode + stalk + air;
  const top = height - stalk - (leaves - 1) * internode;
  return (
    <svg className="plant" width="96" height={height} viewBox={`0 0 96 ${height}`} aria-hidden="true">
      <path className="shoot" d={`M48 ${height}V${top}`} />
      {Array.from({ length: leaves }, (_, i) => (
        <Leaf key={i} transform={`translate(48 ${top + i * internode})${i % 2 === 1 ? " scale(-1 1)" : ""}`} />
      ))}
    </svg>
  );
}
