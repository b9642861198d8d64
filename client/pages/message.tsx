// A full-page message under a wilted plant, with a link to the landing page or a button.
import type { ReactNode } from "react";
import { Leaf } from "../components/stem.tsx";
import { Footer } from "../sections/footer.tsx";
import { Navigation } from "../sections/navigation.tsx";

interface Props {
  name: string;
  heading: string;
  text: string;
  /** The text of a link to the landing page. */
  link?: string;
  children?: ReactNode;
}

export function Message({ name, heading, text, link, children }: Props) {
  return (
    <>
      <Navigation landing="/" />
      <main className={`message ${name}`}>
        <div className="page">
          <div>
            <h1>{heading}</h1>
            <p>{text}</p>
            {link && (
              <a className="button" href="/">
                {link}
              </a>
            )}
            {children}
          </div>
          <WiltedPlant />
        </div>
      </main>
      <Footer />
    </>
  );
}

function WiltedPlant() {
  return (
    <svg className="wilted-plant" viewBox="78 84 204 316" aria-hidden="true">
      <path className="shoot" d="M160 400V190c0-70 40-110 80-96 26 10 30 40 26 66" />
      <Leaf transform="translate(157 300) scale(-2 2)" />
      <Leaf transform="translate(266 156) rotate(62) scale(2)" />
    </svg>
  );
}
