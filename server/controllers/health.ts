// The probes: /healthz says that the process answers, /readyz whether sign-ups can be stored.
import type { RequestHandler } from "express";
import { requireRead } from "../middleware/http-errors.ts";

export const live: RequestHandler = (req, res) => {
  requireRead(req);
  res.set("Cache-Control", "no-store").json({ status: "ok" });
};

export function ready(isReady: () => Promise<boolean>): RequestHandler {
  return async function sendReadiness(req, res) {
    requireRead(req);
    const ok = await isReady();
    res.set("Cache-Control", "no-store").status(ok ? 200 : 503);
    res.json({ status: ok ? "ok" : "database unavailable" });
  };
}
