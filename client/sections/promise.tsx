// The brand line between features and pricing, under the largest leaf of the stem.
import { SeedHeading, Vine } from "../components/stem.tsx";
import { promise } from "../shared/content.ts";

export function BrandPromise() {
  return (
    <section className="section promise">
      <div className="page lane">
        <Vine />
        <p>
          <SeedHeading>{promise}</SeedHeading>
        </p>
        <Vine end />
      </div>
    </section>
  );
}
