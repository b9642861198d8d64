// Finds the address that a visitor probably meant: the same mailbox at a common mail domain with a similar name. The form questions a
// domain and never refuses it: of 355 real domains, the packages mailcheck and email-misspelled question 67 and 40.
import leven from "leven";

/** Of two equally similar domains, the first is suggested. */
const commonDomains = (
  "gmail.com googlemail.com hotmail.com hotmail.co.uk outlook.com live.com yahoo.com yahoo.co.uk rocketmail.com aol.com " +
  "icloud.com msn.com protonmail.com google.com apple.com comcast.net verizon.net att.net sbcglobal.net bellsouth.net " +
  "cox.net charter.net earthlink.net optonline.net rogers.com shaw.ca sympatico.ca bigpond.com optusnet.com.au " +
  "rediffmail.com btinternet.com virginmedia.com ntlworld.com talktalk.net gmx.de gmx.net gmx.at gmx.ch gmx.com web.de " +
  "t-online.de freenet.de 1und1.de bluewin.ch orange.fr free.fr sfr.fr laposte.net libero.it virgilio.it alice.it " +
  "kpnmail.nl ziggo.nl telenet.be bol.com.br"
).split(" ");

/** Real mail domains that are similar to a common one. A test finds those that are missing. */
const similarDomains = new Set(
  (
    "mail.com ymail.com email.com amail.com cmail.com qmail.com tmail.com xmail.com givmail.com gnwmail.com gomail.in " +
    "gtemail.net getmail.no hmail.us hmamail.com homemail.com homemail.co.za hotepmail.com hd-mail.com hot-mail.cf " +
    "hot-mail.ga hot-mail.gq hot-mail.ml hot-mail.tk gotmail.com shotmail.ru zoutlook.com love.com yahoofs.com yalook.com " +
    "gol.com uol.com.br prontomail.com proto2mail.com protonmail.ch amele.com 9ox.net earthling.net bigpond.net " +
    "gmx.ca gmx.ie gmx.it gmx.pt t-online.hu freenet.kg"
  ).split(" "),
);

/** The providers that have a domain in most countries, as yahoo.fr and yahoo.com.br. */
const international = /^(?:aol|hotmail|live|msn|outlook|yahoo)\.(?:com?\.)?(?!co$|cm$|om$)[a-z]{2}$/;

/** Misspellings of .com that are no top-level domains, also with the dot in the wrong place. */
const misspeltCom = /\.(?:c[io]n|cmo|ocm|c[ip]m|ckm|[fvx]om|com[mn]|coom)$|c\.om$/;

/** In characters; longer domains are not similar to any common one. */
const longestDomain = 30;

/**
 * Returns undefined if the address is not obviously mistyped.
 * @param email in lower case, its domain in ASCII; other domains are compared as they are.
 */
export function suggestEmail(email: string): string | undefined {
  const at = email.lastIndexOf("@") + 1;
  const domain = at > 1 ? suggestDomain(email.slice(at)) : undefined;
  return domain && email.slice(0, at) + domain;
}

function suggestDomain(domain: string): string | undefined {
  if (domain.length > longestDomain || isReal(domain)) return undefined;
  // A doubled ending, too: "web.de.de".
  const fixed = domain.replace(misspeltCom, ".com").replace(/(\.[a-z]+)\1$/, "$1");
  const suggestion = isReal(fixed) ? fixed : (findSimilar(fixed) ?? replaceEnding(fixed));
  return suggestion === domain ? undefined : suggestion;
}

function isReal(domain: string): boolean {
  return commonDomains.includes(domain) || similarDomains.has(domain) || international.test(domain);
}

/** Replaces ".net" for ".com", and the ending of what looks like Gmail: its mail has no domain of a country. */
function replaceEnding(domain: string): string {
  const dotCom = domain.replace(/\.(?:net|(?:com?\.)?[a-z]{2})$/, ".com");
  if (domain.endsWith(".net") && commonDomains.includes(dotCom)) return dotCom;
  const similar = domain.startsWith("g") && findSimilar(dotCom);
  return similar === "gmail.com" || similar === "googlemail.com" ? similar : domain;
}

function findSimilar(domain: string): string | undefined {
  const [country = ""] = /\.(?:com?\.)?[a-z]{2}$/.exec(domain) ?? [];
  const national = ["hotmail", "outlook", "yahoo"]
    .map((name) => name + country)
    .filter((name) => international.test(name));
  let best: string | undefined;
  let fewest = 3;
  for (const candidate of [...commonDomains, ...national]) {
    const mistakes = countMistakes(domain, candidate);
    // Short names are similar to many others, and the first letter is rarely wrong.
    const limit = candidate.length < 9 || candidate[0] !== domain[0] ? 1 : 2;
    if (mistakes > limit || mistakes >= fewest) continue;
    best = candidate;
    fewest = mistakes;
  }
  return best;
}

/** Levenshtein's distance, except that two swapped letters count as one mistake. Exact up to 2. */
function countMistakes(typed: string, meant: string): number {
  const distance = leven(typed, meant, { maxDistance: 5 });
  return typed.length === meant.length && distance < 5 && sortLetters(typed) === sortLetters(meant)
    ? distance / 2
    : distance;
}

function sortLetters(text: string): string {
  // oxlint-disable-next-line unicorn/no-array-sort -- Chrome 109 lacks toSorted
  return Array.from(text).sort().join("");
}
