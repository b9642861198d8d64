// The three steps from a spreadsheet to the first message, each with a picture of the product.
import type { ReactNode } from "react";
import { ExampleFigure, ExampleTable, Exchange } from "../components/example-figure.tsx";
import { StepMarker, Vine } from "../components/stem.tsx";
import { product, steps } from "../shared/content.ts";

const { data, sentence, live } = steps;

export function Steps() {
  return (
    <section className="section steps bed" aria-labelledby="steps-heading">
      <div className="page lane">
        <div className="steps-head">
          <h2 id="steps-heading">{steps.heading}</h2>
          <Vine />
        </div>
        <ol className="stem" role="list">
          <Step number={1} {...data}>
            <ExampleFigure icon="sheet" title={data.file}>
              <ExampleTable columns={data.columns} rows={data.rows} />
            </ExampleFigure>
          </Step>
          <Step number={2} {...sentence}>
            <Exchange prompt={sentence.prompt} from={product.name}>
              <ul className="results" role="list">
                {sentence.results.map((kind) => (
                  <li key={kind} className="chip">
                    {kind}
                  </li>
                ))}
              </ul>
            </Exchange>
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
        <Vine end />
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
