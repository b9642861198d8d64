// The privacy page, generated from the privacy notice.
import { use } from "react";
import { privacyPage } from "../shared/content.ts";
import { privacySections } from "../shared/privacy-notice.ts";
import { Footer } from "../sections/footer.tsx";
import { Navigation } from "../sections/navigation.tsx";
import { SettingsContext } from "../shared/site-settings.ts";
import { Plant } from "./message.tsx";

export function PrivacyPage() {
  const settings = use(SettingsContext);
  return (
    <>
      <Navigation />
      <main className="privacy">
        <div className="privacy-head">
          <div className="page">
            <h1>{privacyPage.heading}</h1>
            <Plant name="grown" />
          </div>
        </div>
        <div className="page">
          {privacySections(settings).map(({ heading, terms, text, contact }) => (
            <section key={heading}>
              <h2>{heading}</h2>
              {terms && (
                <dl>
                  {terms.map(({ what, why }) => (
                    <div key={what}>
                      <dt>{what}</dt>
                      <dd>{why}</dd>
                    </div>
                  ))}
                </dl>
              )}
              {text && (
                <p>
                  {text} {contact && <a href={`mailto:${contact}`}>{contact}</a>}
                </p>
              )}
            </section>
          ))}
        </div>
      </main>
      <Footer />
    </>
  );
}
