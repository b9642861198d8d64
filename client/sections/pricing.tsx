// The four plans.
import { pricing } from "../content.ts";

export function Pricing() {
  return (
    <section id="pricing" className="section" aria-labelledby="pricing-heading">
      <h2 id="pricing-heading">{pricing.heading}</h2>
      <p className="lead">{pricing.lead}</p>
      <ul className="plan-grid">
        {pricing.plans.map((plan) => (
          <li key={plan.name} className="card plan">
            <h3>{plan.name}</h3>
            <p className="plan-price">
              <strong>{plan.price}</strong> {pricing.period}
            </p>
            <ul>
              {plan.features.map((feature) => (
                <li key={feature}>{feature}</li>
              ))}
            </ul>
          </li>
        ))}
      </ul>
      <p className="lead">{pricing.offer}</p>
    </section>
  );
}
