// The page's JSON-LD for search engines, built from the same content that visitors see.
import { hero, meta, pricing, product } from "../../client/shared/content.ts";

/** @param origin without a trailing slash */
export function structuredData(origin: string): object {
  const id = (name: string) => `${origin}/#${name}`;
  const organization = {
    "@type": "Organization",
    "@id": id("organization"),
    name: product.name,
    url: `${origin}/`,
    logo: `${origin}/icon-512.png`,
  };
  const site = {
    "@type": "WebSite",
    "@id": id("website"),
    name: product.name,
    url: `${origin}/`,
    inLanguage: "en",
    publisher: { "@id": id("organization") },
  };
  const software = {
    "@type": "SoftwareApplication",
    "@id": id("software"),
    name: product.name,
    description: hero.subtext,
    url: `${origin}/`,
    image: `${origin}${meta.pictureAddress}`,
    applicationCategory: "BusinessApplication",
    operatingSystem: "Web",
    publisher: { "@id": id("organization") },
    offers: pricing.plans.map(offer),
  };
  return { "@context": "https://schema.org", "@graph": [organization, site, software] };
}

type Plan = (typeof pricing.plans)[number];

/** A price that ends with "+" is a minimum price. */
function offer({ name, price, users, emails, sms }: Plan): object {
  const amount = price.replace(/\D/g, "");
  return {
    "@type": "Offer",
    name,
    description: `${pricing.limits.users}: ${users}. ${pricing.limits.emails}: ${emails}. ${pricing.limits.sms}: ${sms}.`,
    price: amount,
    priceCurrency: "USD",
    availability: "https://schema.org/PreOrder",
    priceSpecification: {
      "@type": "UnitPriceSpecification",
      [price.endsWith("+") ? "minPrice" : "price"]: amount,
      priceCurrency: "USD",
      unitCode: "MON",
    },
  };
}
