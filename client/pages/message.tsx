// A full-page message beside a plant, with a link to the landing page or a button.
import type { ReactNode } from "react";
import { Leaf } from "../components/stem.tsx";
import { Footer } from "../sections/footer.tsx";
import { Navigation } from "../sections/navigation.tsx";

interface Props {
  name: string;
  heading: string;
  text: string;
  /** The text of a link, by default to the landing page. */
  link?: string | undefined;
  href?: string;
  plant?: PlantName;
  children?: ReactNode;
}

export function Message({ name, heading, text, link, href = "/", plant = "wilted", children }: Props) {
  return (
    <>
      <Navigation quiet />
      <main className={`message ${name}`}>
        <div className="page">
          <div>
            <h1>{heading}</h1>
            <p>{text}</p>
            {link && (
              <a className="button" href={href}>
                {link}
              </a>
            )}
            {children}
          </div>
          <Plant name={plant} />
        </div>
      </main>
      <Footer />
    </>
  );
}

export function Plant({ name }: { name: PlantName }) {
  const { stem, leaves } = plants[name];
  return (
    <svg className={`message-plant ${name}`} viewBox="78 84 204 316" aria-hidden="true">
      <path className="shoot" d={stem} pathLength={1} />
      {leaves.map((transform) => (
        <Leaf key={transform} transform={transform} />
      ))}
      {name === "seedling" && <circle className="grain" cx="160" cy="396" r="14" />}
    </svg>
  );
}

const plants = {
  seedling: {
    stem: "M160 400V330",
    leaves: ["translate(161 336) scale(-2 -2)", "translate(159 336) scale(2 -2)"],
  },
  grown: {
    stem: "M160 400V186",
    leaves: [
      "translate(157 346) scale(-2 -2)",
      "translate(163 286) scale(2 -2)",
      "translate(160 190) rotate(-48) scale(2 -2)",
    ],
  },
  wilted: {
    stem: "M160 400V190c0-70 40-110 80-96 26 10 30 40 26 66",
    leaves: ["translate(157 300) scale(-2 2)", "translate(266 156) rotate(62) scale(2)"],
  },
};

export type PlantName = keyof typeof plants;
