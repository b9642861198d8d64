// The source of a sign-up: campaign parameters and the referrer's host.
import { expect, it } from "vitest";
import { sourceColumns } from "../database/columns.ts";
import { readSource, viewSource } from "./source.ts";

const page = "https://perennial.example/";
const nothing = Object.fromEntries(sourceColumns.map((name) => [name, null]));

it("readSource reads the campaign parameters from the page's URL", () => {
  const query = "?utm_source=news&utm_medium=email&utm_campaign=first%20season&utm_term=crm&utm_content=&x=1";
  const named = { utm_source: "news", utm_medium: "email", utm_campaign: "first season", utm_term: "crm" };
  expect(readSource({}, page + query)).toEqual({ ...nothing, ...named });
});

it.each([{ source: { utm_source: "body" } }, { utm_source: "body" }])("readSource prefers the body: %j", (body) => {
  const expected = { ...nothing, utm_source: "body", utm_medium: "page" };
  expect(readSource(body, `${page}?utm_source=page&utm_medium=page`)).toEqual(expected);
});

it("readSource trims a value, normalises it to NFC and cuts it to 100 characters", () => {
  expect(readSource({ utm_source: ` ${"🚀".repeat(101)}` }).utm_source).toBe("🚀".repeat(100));
  expect(readSource({ utm_source: " Ame\u0301lie " }).utm_source).toBe("amélie");
  expect(readSource({ utm_source: `${"a".repeat(99)} b` }).utm_source).toBe("a".repeat(99));
});

it.each([
  ["Newsletter", "newsletter"],
  [" LinkedIn ", "linkedin"],
  ["ÉTÉ", "été"],
  ["İ".repeat(100), "i\u0307".repeat(50)], // Longer in lower case.
])("views and sign-ups name the source %j in lower case", (utm_source, name) => {
  const query = new URLSearchParams({ utm_source });
  expect(viewSource(query, [])).toBe(name);
  expect(readSource({ utm_source }).utm_source).toBe(name);
  expect(readSource({ source: { utm_source: 1 } }, `${page}?${query.toString()}`).utm_source).toBe(name);
});

const addresses = "a@b.co list-ada%40b.co %252540 a＠b.co a﹫b.co a&#064;b.co a&#X0040;b.co a&commat;b.co a=40b.co";
it.each(addresses.split(" "))("readSource drops %j, and no other value", (value) => {
  const expected = { ...nothing, utm_source: "news" };
  expect(readSource({}, `${page}?utm_source=news&utm_term=${encodeURIComponent(value)}`)).toEqual(expected);
  expect(readSource({ source: { utm_source: "news", utm_content: value } })).toEqual(expected);
});

it.each(["\u0000", "\ud800", 1, ["x"], null])("readSource ignores the invalid value %j", (value) => {
  expect(readSource({ source: { utm_source: value, referrer: value } }, "no address")).toEqual(nothing);
  expect(readSource({ source: value })).toEqual(nothing);
});

it.each([
  ["https://News.example:8080?query/#part", "news.example"],
  ["https://münchen.example/", "xn--mnchen-3ya.example"],
  ["/pricing", null],
  ["android-app://com.example\\path", "com.example"],
  ["not a host", null],
  [`https://${"a.".repeat(126)}b`, `${"a.".repeat(126)}b`], // 253 characters, as long as a name of DNS can be.
  [`https://${"a.".repeat(126)}bc`, null],
  [`https://${"ü.".repeat(40)}de`, null],
])("readSource reduces the referrer %s to the host %s", (referrer, host) => {
  expect(readSource({ source: { referrer } }).referrer_host).toBe(host);
});
