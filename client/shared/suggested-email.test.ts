// The suggestions for mistyped addresses, measured with lists that others made.
import allProviders from "email-providers/all.json" with { type: "json" };
import { expect, it } from "vitest";
import { suggestEmail } from "./suggested-email.ts";

const suggestDomain = (domain: string) => suggestEmail(`ada@${domain}`)?.replace("ada@", "");

/** Returns the domain with each letter of its name left out, doubled, or swapped with the next. */
function slips(domain: string): string[] {
  const typos = new Set<string>();
  for (let i = 0; i < domain.indexOf("."); i++) {
    const [before, after] = [domain.slice(0, i), domain.slice(i + 2)];
    const [letter, next] = [domain.charAt(i), domain.charAt(i + 1)];
    typos.add(before + next + after);
    typos.add(before + letter + letter + next + after);
    if (next !== ".") typos.add(before + next + letter + after);
  }
  typos.delete(domain); // Two equal letters swapped.
  return [...typos];
}

/** Misspellings that email-providers lists: domains that other owners registered, and endings that a provider lacks. */
const listedTypos = (
  "g-meil.com gamil.com gmai.com gmail.co gmail.co.uk gmail.com.com gmail.it gmail.om gmal.com gmial.com homail.com " +
  "hotmai.com hotmail.cm hotmail.con hotmails.com hotmial.com liberto.it vahoo.com yaho.com yahoo.om"
).split(" ");

it.each(["gmail.com", "hotmail.com", "yahoo.com", "outlook.com", "icloud.com", "googlemail.com"])(
  "a slip in %s has a suggestion",
  (domain) => {
    const missed = slips(domain).filter((typo) => suggestDomain(typo) !== domain);
    // Some slips are other real domains, such as mail.com.
    expect(missed.filter((typo) => !allProviders.includes(typo))).toEqual([]);
  },
);

it.each([
  ["gmail.con", "gmail.com"],
  ["gmailc.om", "gmail.com"],
  ["gmail.com.com", "gmail.com"],
  ["googlemail.com.com", "googlemail.com"],
  ["icloud.net", "icloud.com"],
  ["gmai.com.ar", "gmail.com"],
  ["hotmal.nl", "hotmail.nl"],
  ["outlok.fr", "outlook.fr"],
  ["yaho.de", "yahoo.de"],
  ["hotmail.co", "hotmail.com"],
  ["hotmail.cm", "hotmail.com"],
  ["hotmail.om", "hotmail.com"],
  ["googlemail.fr", "googlemail.com"],
  ["web.de.de", "web.de"],
  ...["con", "cin", "cmo", "ocm", "cim", "cpm", "ckm", "fom", "vom", "xom", "comm", "comn", "coom"].map((ending) => [
    `company.${ending}`,
    "company.com",
  ]),
])("the domain %s is suggested as %s, and the mailbox stays as it is", (typed, meant) => {
  expect(suggestEmail(`"gmial.com@x"@${typed}`)).toBe(`"gmial.com@x"@${meant}`);
});

it("a real domain has no suggestion if it is one of the 8,000 of email-providers", () => {
  expect(allProviders.length).toBeGreaterThan(8_000);
  const wrong = allProviders.filter((domain) => !listedTypos.includes(domain) && suggestDomain(domain));
  expect(wrong.map((domain) => `${domain}: ${suggestDomain(domain)}`)).toEqual([]);
});

const others = ["ada@example.com", "ada@company.co", "ada@xn--mnchen-3ya.de", "ada@hotmail.co.jp", "ada@"];

it.each([...others, "", "gmial.com", "@gmial.com"])("the text %j has no suggestion", (text) =>
  expect(suggestEmail(text)).toBeUndefined(),
);
