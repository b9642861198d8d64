// The three steps from a spreadsheet to the first message, each with a picture of the product.
import type { ReactNode } from "react";
import { ExampleFigure } from "../components/example-figure.tsx";
import { StepMarker, Vine } from "../components/stem.tsx";
import { steps } from "../shared/content.ts";

const { data, sentence, live } = steps;

export function Steps() {
  return (
    <section className="section steps bed" aria-labelledby="steps-heading">
      <div className="page">
        <div className="steps-head">
          <h2 id="steps-heading">{steps.heading}</h2>
          <Vine from={100} to={0} />
        </div>
        <ol className="stem" role="list">
          <Step number={1} {...data}>
            <ExampleFigure icon="sheet" title={data.file}>
              <table className="sheet">
                <thead>
                  <tr>
                    {data.columns.map((column) => (
                      <th key={column}>{column}</th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {data.rows.map((cells) => (
                    <tr key={cells[0]}>
                      {cells.map((cell) => (
                        <td key={cell}>{cell}</td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </ExampleFigure>
          </Step>
          <Step number={2} {...sentence}>
            <ExampleFigure icon="chat" title={sentence.label}>
              <ul className="rows" role="list">
                {sentence.parts.map(([part, kind]) => (
                  <li key={part}>
                    {part} <b className="chip">{kind}</b>
                  </li>
                ))}
              </ul>
            </ExampleFigure>
          </Step>
          <Step number={3} {...live}>
            <ExampleFigure icon="flow" title={live.label}>
              <ul className="rows" role="list">
                {live.messages.map(([day, message]) => (
                  <li key={day}>
                    <span>
                      <b>{day}</b> {message}
                    </span>
                    <span className="switch">{live.state}</span>
                  </li>
                ))}
              </ul>
            </ExampleFigure>
          </Step>
        </ol>
      </div>
    </section>
  );
}

interface Props {
  number: number;
  title: string;
  text: string;
  children: ReactNode;
}

function Step({ number, title, text, children }: Props) {
  return (
    <li>
      <StepMarker>{number}</StepMarker>
      <div>
        <h3>{title}</h3>
        <p>{text}</p>
      </div>
      {children}
    </li>
  );
}
