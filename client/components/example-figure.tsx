// A picture of the product with example data. Each has the name "Example"; the visible label stands once in a section.
import type { ReactNode } from "react";
import { demo, exampleLabel } from "../shared/content.ts";
import { Icon, type IconName } from "./icon.tsx";

interface Props {
  icon: IconName;
  title: string;
  /** Whether the picture has the visible label of its section. */
  tagged?: boolean;
  children: ReactNode;
}

export function ExampleFigure({ icon, title, tagged, children }: Props) {
  return (
    <figure className="example-figure">
      <HiddenCaption />
      <p className="example-figure-head">
        <Icon name={icon} />
        <b>{title}</b> {tagged && <ExampleTag />}
      </p>
      {children}
    </figure>
  );
}

/** The visible label. Screen readers get the caption instead. */
export function ExampleTag() {
  return (
    <span className="tag" aria-hidden="true">
      {exampleLabel}
    </span>
  );
}

/** The business of the examples. entry-client.ts replaces it by the one that the visitor types, in any direction of writing. */
export const business = (
  <bdi className="business" translate="no">
    {demo.business}
  </bdi>
);

export function HiddenCaption() {
  return <figcaption className="visually-hidden">{exampleLabel}</figcaption>;
}
