// A picture of the product with example data, and the label that says so.
import type { ReactNode } from "react";
import { exampleLabel } from "../content.ts";
import { Icon, type IconName } from "./icon.tsx";

interface Props {
  icon: IconName;
  title: string;
  children: ReactNode;
}

export function Artefact({ icon, title, children }: Props) {
  return (
    <figure className="artefact">
      <figcaption className="artefact-head">
        <Icon name={icon} />
        <b>{title}</b>
        <ExampleTag />
      </figcaption>
      {children}
    </figure>
  );
}

export function ExampleTag() {
  return <span className="tag">{exampleLabel}</span>;
}
