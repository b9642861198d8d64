// The pricing section: four plans, what all of them include, and the founding offer.
import { formId } from "../addresses.ts";
import { Checks } from "../components/checks.tsx";
import { pricing } from "../content.ts";

export function Pricing() {
  return (
    <section id="pricing" className="section" aria-labelledby="pricing-heading">
      <h2 id="pricing-heading">{pricing.heading}</h2>
      <ul className="plans">
        {pricing.plans.map((plan) => (
          <li key={plan.name} className="plan">
            <h3>{plan.name}</h3>
            <p className="plan-price">
              <strong>{plan.price}</strong> {pricing.period}
            </p>
            <dl>
              {(["users", "emails", "sms"] as const).map((limit) => (
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
        <div>
          <h3>{pricing.allHeading}</h3>
          <Checks items={pricing.all} />
        </div>
        <div className="offer">
          <h3>{pricing.offerHeading}</h3>
          <p>{pricing.offer}</p>
          <a href={`#${formId}`}>{pricing.offerLink}</a>
        </div>
      </div>
    </section>
  );
}
