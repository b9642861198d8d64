import { describe, expect, it } from "vitest";
import { readSource } from "./source.ts";

const nothing = {
  utm_source: null,
  utm_medium: null,
  utm_campaign: null,
  utm_term: null,
  utm_content: null,
  referrer_host: null,
};

describe("where a sign-up came from", () => {
  it("is nothing where nothing says so", () => {
    expect(readSource({})).toEqual(nothing);
    expect(readSource({}, "no address")).toEqual(nothing);
    expect(readSource({}, "https://perennial.example/?utm_source=&utm_medium=%20")).toEqual(nothing);
  });

  it("is read from the address of the page", () => {
    const page =
      "https://perennial.example/?utm_source=news&utm_medium=email&utm_campaign=first%20season&utm_term=crm&utm_content=top&x=1";
    expect(readSource({}, page)).toEqual({
      ...nothing,
      utm_source: "news",
      utm_medium: "email",
      utm_campaign: "first season",
      utm_term: "crm",
      utm_content: "top",
    });
  });

  it("is what the body says first, as source of JSON or as fields of a form", () => {
    const page = "https://perennial.example/?utm_source=page&utm_medium=page";
    const expected = { ...nothing, utm_source: "body", utm_medium: "page" };
    expect(readSource({ source: { utm_source: "body" } }, page)).toEqual(expected);
    expect(readSource({ utm_source: "body" }, page)).toEqual(expected);
  });

  it("is cut to 100 characters, trimmed and normalised", () => {
    expect(readSource({ utm_source: ` ${"🚀".repeat(101)}` }).utm_source).toBe("🚀".repeat(100));
    expect(readSource({ utm_source: " Ame\u0301lie " }).utm_source).toBe("Amélie");
  });

  it.each(["\u0000", "a\nb", "\ud800", 1, ["x"], { x: 1 }, null])("leaves out %j, and never refuses", (value) => {
    expect(readSource({ source: { utm_source: value, referrer: value } })).toEqual(nothing);
    expect(readSource({ source: value })).toEqual(nothing);
  });

  it.each([
    ["news.example", "news.example"],
    ["https://News.example:8080/path?query#part", "news.example"],
    ["android-app://com.example.reader/", "com.example.reader"],
    ["https://münchen.example/", "xn--mnchen-3ya.example"],
    ["", null],
    ["not a host", null],
    [`${"a".repeat(63)}.`.repeat(5), null],
  ])("keeps of the referrer %s the host %s", (referrer, host) => {
    expect(readSource({ source: { referrer } }).referrer_host).toBe(host);
  });
});
