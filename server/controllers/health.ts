// Health for operators: /healthz says that the process answers, /readyz that sign-ups can be stored.
import type { RequestHandler } from "express";

export const live: RequestHandler = (_req, res) => {
  res.set("Cache-Control", "no-store").json({ status: "ok" });
};

export function ready(isReady: () => Promise<boolean>): RequestHandler {
  return async function answerReady(_req, res) {
    const ok = await isReady();
    res.set("Cache-Control", "no-store").status(ok ? 200 : 503);
    res.json({ status: ok ? "ok" : "database unavailable" });
  };
}
