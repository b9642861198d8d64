// The privacy page, generated from the explained columns and the operator's settings.
import { use } from "react";
import { privacyPage } from "../content.ts";
import { explanations } from "../explained-columns.ts";
import { PrivacyContext } from "../privacy-settings.ts";
import { Footer } from "../sections/footer.tsx";
import { Navigation } from "../sections/navigation.tsx";

export function PrivacyPage() {
  const { controller, contact } = use(PrivacyContext);
  return (
    <>
      <Navigation landing="/" />
      <main className="privacy">
        <div className="page">
          <h1>{privacyPage.heading}</h1>
          {controller && (
            <section>
              <h2>{privacyPage.controllerHeading}</h2>
              <p>{controller}</p>
            </section>
          )}
          <section>
            <h2>{privacyPage.dataHeading}</h2>
            <dl>
              {explanations.map(({ what, why }) => (
                <div key={what}>
                  <dt>{what}</dt>
                  <dd>{why}</dd>
                </div>
              ))}
            </dl>
            <p>{privacyPage.visit}</p>
          </section>
          <section>
            <h2>{privacyPage.retentionHeading}</h2>
            <p>{privacyPage.retention}</p>
          </section>
          {contact && (
            <section>
              <h2>{privacyPage.rightsHeading}</h2>
              <p>
                {privacyPage.rights} <a href={`mailto:${contact}`}>{contact}</a>
              </p>
            </section>
          )}
        </div>
      </main>
      <Footer />
    </>
  );
}
