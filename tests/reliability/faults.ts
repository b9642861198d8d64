// Faults of the database. Pages stay up, no sign-up is confirmed without being stored, and the site recovers by itself.
import type { StackScenarios } from "../support/stack.ts";
import { openWire } from "../support/tcp-proxy.ts";
import { endure } from "./endure.ts";

export const faults: StackScenarios = {
  "Postgres is killed": (stack) =>
    endure(stack, {
      begin: () => stack.postgres.signal("SIGKILL"),
      end: () => stack.postgres.startAgain(),
    }),
  "Postgres is frozen (SIGSTOP)": (stack) =>
    endure(stack, {
      begin: () => stack.postgres.signal("SIGSTOP"),
      end: () => stack.postgres.signal("SIGCONT"),
    }),
  "open connections to Postgres go silent, as in a failover": async (stack) => {
    const wire = await openWire(stack.postgres.webUrl);
    try {
      const fault = { begin: () => wire.stall(), end: () => wire.forget() };
      return await endure(stack, fault, { DATABASE_URL: wire.url(stack.postgres.webUrl) });
    } finally {
      await wire.cut();
    }
  },
};
