// The picture of the API feature: a prompt, the generated request and its response.
import { HiddenCaption } from "../components/example-figure.tsx";
import { features } from "../shared/content.ts";

const { api } = features;

export function ApiExample() {
  return (
    <figure className="code bed">
      <HiddenCaption />
      <p>{api.prompt}</p>
      <pre>
        <code>
          <i>fetch</i>(<b>"https://api.example/crm"</b>, {"{\n  method: "}
          <b>"POST"</b>
          {",\n  body: JSON.stringify(customer),\n});"}
        </code>
      </pre>
      <pre>
        <code>
          <u>{api.status}</u>
          {'\n{ "id": '}
          <b>"c_1029"</b>
          {',\n  "points": 0 }'}
        </code>
      </pre>
    </figure>
  );
}
