// Both parts of a mailing. tests/process/mailing.test.ts has the message that arrives.
import { expect, it } from "vitest";
import { confirmationMail, mailingEnd, product } from "../../client/shared/content.ts";
import { decodeHtml } from "../../tests/support/copy.ts";
import { parseMailingText } from "./letter.ts";
import { renderMailing } from "./mailing.ts";

const sender = { origin: "https://perennial.example", controller: "Perennial & <Co.>", contact: "a@perennial.example" };
const render = (text: string) => renderMailing(parseMailingText(`Subject: Hello\n\n${text}`), sender, "TOKEN");
const leave = "https://perennial.example/leave?token=TOKEN";

it("the text part has the paragraphs, the URLs of buttons and, above the signature, the link to leave", () => {
  const signature = "-- ";
  expect(render("Hi there,\n\nwe are open.\nAt last!\n\n[Try it](https://a.example/?a&b)\n\nAda").text).toBe(`Hi there,

we are open.
At last!

Try it:
https://a.example/?a&b

Ada

${mailingEnd.reason}

${mailingEnd.leave}:
${leave}

${signature}
${product.name}
Perennial & <Co.>
${confirmationMail.contact} a@perennial.example
`);
});

it("the HTML part has links, a button, line breaks and the same end, and no markup of the text", () => {
  const { html } = render('One https://a.example/?a&b.\n<b>"two"</b> \u202Ethree\n\n[<i>Go</i>](https://b.example/"x)');
  expect(html).toMatch(
    /<p dir="auto" style="[^"]*overflow-wrap: anywhere">One <a class="link" href="https:\/\/a\.example\/\?a&amp;b" [^>]*>https:\/\/a\.example\/\?a&amp;b<\/a>\.<br>\n&lt;b&gt;&quot;two&quot;&lt;\/b&gt; \u202Ethree<\/p>/,
  );
  expect(html).toMatch(
    /<p dir="auto"[^>]*><a class="button" href="https:\/\/b\.example\/&quot;x" [^>]*>&lt;i&gt;Go&lt;\/i&gt;<\/a>/,
  );
  for (const part of [`href="${leave}"`, "Perennial &amp; &lt;Co.&gt;", "mailto:a@perennial"]) {
    expect(html).toContain(part);
  }
  expect(decodeHtml(html)).toContain(mailingEnd.reason);
  expect(html).not.toMatch(/<(?:b|i|img|script|link)>|url\(|src=/);
});
