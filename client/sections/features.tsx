// The six feature cards.
import { Icon } from "../components/icon.tsx";
import { features } from "../content.ts";

export function Features() {
  return (
    <section id="features" className="section" aria-labelledby="features-heading">
      <h2 id="features-heading">{features.heading}</h2>
      <p className="lead">{features.lead}</p>
      <ul className="feature-grid">
        {features.cards.map(({ icon, title, description }) => (
          <li key={title} className="card">
            <Icon name={icon} />
            <h3>{title}</h3>
            <p>{description}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}
