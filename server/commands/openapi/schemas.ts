// The schemas of the OpenAPI document: the entry from its zod schema, the answer to a sign-up, and the problem document.
import { z } from "zod";
import { earlyAccess } from "../../../client/content.ts";
import { sourceColumns } from "../../models/source.ts";
import { waitlistEntry } from "../../models/waitlist-entry.ts";

export const token = { type: "string", pattern: String.raw`^[\w-]{22}$` };

const nonEmpty = { type: "string", minLength: 1 };

const campaign = sourceColumns.filter((name) => name.startsWith("utm_")).map((name) => [name, { type: "string" }]);
export const source = {
  ...(Object.fromEntries(campaign) as object),
  referrer: { type: "string", description: "The page or host that linked to the form." },
};

function entrySchema(): object {
  const { $schema: _, ...schema } = z.toJSONSchema(waitlistEntry, { io: "input" });
  return { ...schema, description: "The limits apply to the text without surrounding space, in NFC." };
}

export const schemas = {
  Entry: entrySchema(),
  Joined: {
    type: "object",
    properties: {
      message: { const: earlyAccess.success.text },
      undo: { ...token, description: "The token for POST /leave. Missing if the site sends confirmation mails." },
    },
    required: ["message"],
    additionalProperties: false,
  },
  Problem: {
    description: "A problem document (RFC 9457).",
    type: "object",
    properties: {
      type: { const: "about:blank" },
      title: nonEmpty,
      status: { type: "integer" },
      detail: nonEmpty,
      errors: {
        description: "One for each invalid field.",
        type: "array",
        minItems: 1,
        items: {
          type: "object",
          properties: { pointer: nonEmpty, detail: nonEmpty },
          required: ["pointer", "detail"],
        },
      },
    },
    required: ["type", "title", "status", "detail"],
  },
};
