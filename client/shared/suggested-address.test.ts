// The suggestions for mistyped addresses, measured with lists that others made.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import allProviders from "email-providers/all.json" with { type: "json" };
import { describe, expect, it } from "vitest";
import { suggestAddress } from "./suggested-address.ts";

const require = createRequire(import.meta.url);
const suggestDomain = (domain: string) => suggestAddress(`ada@${domain}`)?.replace("ada@", "");

/** Returns the typos of the npm package emailtypocheck (ISC), which has them in a table that it does not export. */
function readTypos(): [typed: string, meant: string][] {
  const code = readFileSync(require.resolve("emailtypocheck"), "utf8");
  return [...code.matchAll(/"([\w.-]+)": "([\w.-]+)"/g)].map(([, typed = "", meant = ""]) => [typed, meant]);
}

/** Returns the domain with each letter of its name left out, doubled, or swapped with the next. */
function slips(domain: string): string[] {
  const typos = new Set<string>();
  for (let i = 0; i < domain.indexOf("."); i++) {
    const [before, letter, next, after] = [
      domain.slice(0, i),
      domain.charAt(i),
      domain.charAt(i + 1),
      domain.slice(i + 2),
    ];
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

describe("a mistyped domain", () => {
  it("has the right suggestion for at least 95 % of a public list", () => {
    const typos = readTypos();
    expect(typos.length).toBeGreaterThan(20);
    const missed = typos.filter(([typed, meant]) => suggestDomain(typed) !== meant);
    expect(missed.length / typos.length, missed.join(" ")).toBeLessThanOrEqual(0.05);
  });

  it.each(["gmail.com", "hotmail.com", "yahoo.com", "outlook.com", "icloud.com", "googlemail.com", "comcast.net"])(
    "has a suggestion for each slip of one letter in %s",
    (domain) => {
      const missed = slips(domain).filter((typo) => suggestDomain(typo) !== domain);
      // Some slips are other real domains, such as mail.com.
      expect(missed.filter((typo) => !allProviders.includes(typo))).toEqual([]);
    },
  );

  it.each([
    ["gmial.com", "gmail.com"],
    ["gmail.con", "gmail.com"],
    ["gmailc.om", "gmail.com"],
    ["gmail.com.com", "gmail.com"],
    ["gmai.com.ar", "gmail.com"],
    ["hotmal.nl", "hotmail.nl"],
    ["yaho.com.br", "yahoo.com.br"],
    ["icloud.net", "icloud.com"],
    ["company.con", "company.com"],
  ])("%s is suggested as %s", (typed, meant) => {
    expect(suggestDomain(typed)).toBe(meant);
  });

  it("leaves the mailbox as it is", () => {
    expect(suggestAddress("gmial.com+x@gmial.com")).toBe("gmial.com+x@gmail.com");
  });
});

describe("a real domain", () => {
  it("has no suggestion if it is one of the 8,000 of email-providers", () => {
    expect(allProviders.length).toBeGreaterThan(8_000);
    const wrong = allProviders.filter((domain) => !listedTypos.includes(domain) && suggestDomain(domain));
    expect(wrong.map((domain) => `${domain}: ${suggestDomain(domain)}`)).toEqual([]);
  });

  it.each(["example.com", "company.co", "company.io", "xn--mnchen-3ya.de", "hotmail.co.jp", "yahoo.gr", "", "gmail"])(
    "has no suggestion: %j",
    (domain) => {
      expect(suggestDomain(domain)).toBeUndefined();
    },
  );
});

it("a text without a mailbox or a domain, or of any length, has no suggestion", () => {
  expect(["", "gmial.com", "@gmial.com", "ada@", `a@${"gmail.".repeat(9_000)}com`].map(suggestAddress)).toEqual(
    Array(5).fill(undefined),
  );
});
