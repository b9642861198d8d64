// A headline that ends with the seed of the stem instead of a full stop.

export function Sentence({ children }: { children: string }) {
  const lastSpace = children.lastIndexOf(" ");
  return (
    <>
      {children.slice(0, lastSpace + 1)}
      <span className="seed">{children.slice(lastSpace + 1)}</span>
    </>
  );
}
