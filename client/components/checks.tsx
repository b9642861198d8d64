// A list with a tick before each item.
import { Icon } from "./icon.tsx";

export function Checks({ items }: { items: readonly string[] }) {
  return (
    <ul className="checks">
      {items.map((text) => (
        <li key={text}>
          <Icon name="check" />
          {text}
        </li>
      ))}
    </ul>
  );
}
