// POST /api/earlyaccess: puts a visitor on the waitlist.
import type { RequestHandler } from "express";
import { earlyAccess } from "../../client/content.ts";
import { joinedAddress } from "../../client/addresses.ts";
import { HttpError } from "../http-error.ts";
import { prefersHtml } from "../middleware/errors.ts";
import { parseEntry, type ParsedEntry, type WaitlistEntry } from "../models/waitlist-entry.ts";
import { HourlyLimitError } from "../models/signup-volume.ts";
import { WaitlistUnavailableError, type Waitlist } from "../models/waitlist.ts";

/** Seconds; long enough for a database to restart, short enough that a visitor may wait for it. */
const retryAfter = "15";

/** The same bytes for a new and a known address: nobody learns who is on the list. */
const joined = JSON.stringify({ message: earlyAccess.success.text });

export type ParseEntry = (...given: Parameters<typeof parseEntry>) => ParsedEntry | Promise<ParsedEntry>;

/** Checks the fields, and leaves the entry for joinWaitlist. */
export function readEntry(parse: ParseEntry = parseEntry): RequestHandler {
  return async function read(req, res, next) {
    const parsed = await parse(req.body as Record<string, unknown>, req.headers.referer);
    if (!parsed.ok) throw new HttpError(422, "Some fields are not valid.", { fields: parsed.errors });
    res.locals.entry = parsed.entry;
    next();
  };
}

export function joinWaitlist(waitlist: Waitlist): RequestHandler {
  return async function join(req, res) {
    try {
      await waitlist.join(res.locals.entry as WaitlistEntry);
    } catch (error) {
      if (error instanceof HourlyLimitError) {
        res.locals.isAboveHourlyLimit = true; // Tells this 503 from that of a database which is away.
        const headers = { "Retry-After": String(error.retryAfterSeconds) };
        throw new HttpError(503, "There are more sign-ups than usual. Please try again later.", { headers });
      }
      if (!(error instanceof WaitlistUnavailableError)) throw error;
      throw new HttpError(503, "Sign-ups can't be stored right now. Please try again.", {
        headers: { "Retry-After": retryAfter },
        cause: error.cause,
      });
    }
    res.set("Cache-Control", "no-store");
    if (prefersHtml(req)) res.redirect(303, joinedAddress);
    else res.status(201).type("json").send(joined);
  };
}
