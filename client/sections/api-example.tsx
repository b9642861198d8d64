// The picture of the API feature: a prompt, the generated request and its response.
import { ExampleTag } from "../components/artefact.tsx";
import { features } from "../content.ts";

const { api } = features;

export function ApiExample() {
  return (
    <figure className="code">
      <figcaption>
        <span>{api.prompt}</span>
        <ExampleTag />
      </figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role -- it scrolls on a phone, so it must be focusable */}
      <pre tabIndex={0} role="group" aria-label={api.request}>
        <code>
          <i>fetch</i>(<b>"https://api.example/crm"</b>, {"{\n  method: "}
          <b>"POST"</b>
          {",\n  body: JSON.stringify(customer),\n});"}
        </code>
      </pre>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex, jsx-a11y/prefer-tag-over-role -- it scrolls on a phone, so it must be focusable */}
      <pre tabIndex={0} role="group" aria-label={api.response}>
        <code>
          <u>{api.status}</u>
          {'\n{ "name": '}
          <b>"Mara Lindt"</b>
          {',\n  "points": 0 }'}
        </code>
      </pre>
    </figure>
  );
}
