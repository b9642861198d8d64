// The brand line between features and pricing, under the last leaf of the stem.
import { SeedHeading } from "../components/stem.tsx";
import { Vine } from "../components/stem.tsx";
import { promise } from "../shared/content.ts";

export function BrandPromise() {
  return (
    <section className="section promise">
      <div className="page">
        <Vine from={0} to={100} />
        <span className="bud" aria-hidden="true" />
        <p>
          <SeedHeading>{promise}</SeedHeading>
        </p>
      </div>
    </section>
  );
}
