// What tests compare with the copy in client/shared: the text of an HTML page, and a field of the form.
import { fields, type Field, type FieldName } from "../../client/shared/fields.ts";

const characters: Record<string, string> = { amp: "&", lt: "<", gt: ">", quot: '"', "#x27": "'" };

/** Replaces the character references that React and the server's views write. */
export const decodeHtml = (html: string): string =>
  html.replace(/&(amp|lt|gt|quot|#x27);/g, (_, name: string) => characters[name] as string);

/** Returns the text of all elements, the title included. Tags and white space become one space. */
export function pageText(html: string): string {
  const spaced = html.replace(/<!--.*?-->/gs, "").replace(/<[^>]+>/g, " ");
  return decodeHtml(spaced.replace(/[ \n]+/g, " "));
}

export const pageTitle = (html: string): string => decodeHtml(/<title>(.*?)<\/title>/.exec(html)?.[1] ?? "");

export const fieldNamed = (name: FieldName): Field => fields.find((field) => field.name === name) as Field;
