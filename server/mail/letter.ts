// The text of a mailing: what a file must hold, and its subject, paragraphs and buttons.
import { isUtf8 } from "node:buffer";
import { longestMailing } from "../database/kept-schema.ts";
import { OperatorError } from "../errors.ts";

export interface MailingText {
  subject: string;
  paragraphs: Paragraph[];
}

/** A text of one line or several, or a button. */
export type Paragraph = { text: string } | { label: string; url: string };

const longestSubject = 150;

/** Placeholders of mailing tools: {{name}}, {% name %}, *|NAME|*. */
const placeholder = /\{[{%]|\*\|/;

/** Returns the text of a file as the database stores it. @throws OperatorError if it is no mailing. */
export function readMailingText(file: Buffer): string {
  if (file.length > longestMailing) {
    throw new OperatorError(
      `The text is larger than 20 KB (${longestMailing.toLocaleString("en")} bytes): shorten it.`,
    );
  }
  const decoded = file.toString();
  // UTF-16 has U+0000, and a file that was decoded wrongly before has U+FFFD.
  if (!isUtf8(file) || /[\0\uFFFD]/.test(decoded)) throw new OperatorError("The text is not UTF-8: save it in UTF-8.");
  const lines = decoded.replace(/^\uFEFF/, "").split(/\r\n?|\n/);
  // Mail programs fold what follows a line "-- ", and with it the link to leave.
  const text = lines.map((line) => line.trimEnd()).join("\n");
  parseMailingText(text);
  return text;
}

/** @throws OperatorError if a part is missing. */
export function parseMailingText(text: string): MailingText {
  const [first = "", second = "", ...others] = text.split("\n");
  const subject = /^subject:(.*)$/i.exec(first)?.[1]?.trim() ?? "";
  const length = Array.from(subject).length;
  if (length < 1 || length > longestSubject) {
    throw new OperatorError(`Line 1 must be "Subject: " and 1 to ${longestSubject} characters.`);
  }
  if (second !== "") throw new OperatorError("Line 2 must be empty: it parts the subject from the text.");
  const body = others.join("\n").replaceAll(/^\n+|\n+$/g, "");
  if (body.trim() === "") throw new OperatorError("There is no text: write it below the subject and an empty line.");
  if (placeholder.test(text)) {
    throw new OperatorError("There are no placeholders: write Hi there, instead of {{name}}.");
  }
  return { subject, paragraphs: body.split(/\n{2,}/).map(readParagraph) };
}

function readParagraph(paragraph: string): Paragraph {
  const [, label, url] = /^\s*\[(.+)\]\((https:\/\/\S+)\)$/.exec(paragraph) ?? [];
  if (label && url && URL.canParse(url)) return { label: label.trim(), url };
  return { text: paragraph };
}

/** Returns what looks like markup or a link to its writer, and not to its readers. */
export function findTypedMarkup(text: string): string[] {
  const typed = parseMailingText(text).paragraphs.flatMap((paragraph) => ("text" in paragraph ? [paragraph.text] : []));
  return ["](", "**", "http://"].filter((markup) => typed.some((paragraph) => paragraph.includes(markup)));
}

/** A link ends before a quotation mark, punctuation of the sentence, and a bracket that it does not open. */
const link = /https:\/\/[^\s<>"\p{Pi}\p{Pf}]*[^\s<>"\p{Pi}\p{Pf}'.,;:!?。、，！？]/gu;

export function splitLinks(text: string): { text: string; isLink: boolean }[] {
  const parts: { text: string; isLink: boolean }[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(link)) {
    const url = withoutClosingBrackets(found);
    if (!URL.canParse(url)) continue;
    parts.push({ text: text.slice(end, index), isLink: false }, { text: url, isLink: true });
    end = index + url.length;
  }
  return [...parts, { text: text.slice(end), isLink: false }].filter((part) => part.text !== "");
}

/** Removes the closing bracket of "(see https://perennial.example)", but not that of "/Tree_(botany)", and punctuation before it. */
function withoutClosingBrackets(url: string): string {
  const [closing] = /[)\]}]$/.exec(url) ?? [];
  if (closing === undefined) return url;
  const opening = "([{".charAt(")]}".indexOf(closing));
  if (url.split(opening).length >= url.split(closing).length) return url;
  return withoutClosingBrackets(url.slice(0, -1).replace(/['.,;:!?]+$/, ""));
}
