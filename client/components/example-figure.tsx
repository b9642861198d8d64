// A picture of the product with example data, and the label that says so.
import type { ReactNode } from "react";
import { exampleLabel } from "../shared/content.ts";
import { Icon, type IconName } from "./icon.tsx";

interface Props {
  icon: IconName;
  title: string;
  children: ReactNode;
}

export function ExampleFigure({ icon, title, children }: Props) {
  return (
    <figure className="example-figure">
      <figcaption className="example-figure-head">
        <Icon name={icon} />
        <b>{title}</b>
        <ExampleTag />
      </figcaption>
      {children}
    </figure>
  );
}

export function ExampleTag({ hidden }: { hidden?: boolean }) {
  return (
    <span className="tag" aria-hidden={hidden}>
      {exampleLabel}
    </span>
  );
}

/** The caption of a picture whose visible label stands inside it; screen readers get the caption alone. */
export function HiddenCaption() {
  return <figcaption className="visually-hidden">{exampleLabel}</figcaption>;
}
