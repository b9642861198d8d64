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

/** A question or a command, and the answer to it. */
export function Exchange({ prompt, from, children }: { prompt: string; from: string; children: ReactNode }) {
  return (
    <figure className="exchange">
      <HiddenCaption />
      <p className="prompt">{prompt}</p>
      <div className="example-figure answer">
        <p className="kind">
          {from}
          <ExampleTag hidden />
        </p>
        {children}
      </div>
    </figure>
  );
}

export function ExampleTable({ columns, rows }: { columns: string[]; rows: string[][] }) {
  return (
    <table>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column}>{column}</th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((cells) => (
          <tr key={cells[0]}>
            {cells.map((cell, i) => (
              <td key={columns[i]}>{cell}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
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
