// A fault of the machine: the site runs out of file descriptors.
import assert from "node:assert/strict";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { builtServer } from "../support/site.ts";
import type { StackScenarios } from "../support/stack.ts";
import { until } from "../support/until.ts";
import { assertConfirmed, assertRunning, createVisitors, visit } from "../support/visitors.ts";

export const machine: StackScenarios = {
  "the site runs out of file descriptors": async (stack) => {
    const command = `ulimit -n 64 && exec "${process.execPath}" "${builtServer}"`;
    const site = await stack.startSite({}, { command: ["sh", "-c", command] });
    const visitors = createVisitors(stack);
    const { port } = new URL(site.url);
    const sockets = Array.from({ length: 200 }, () => connect(Number(port), "127.0.0.1"));
    for (const socket of sockets) socket.on("error", () => undefined);
    const countEnded = () => sockets.filter(({ destroyed, readableEnded }) => destroyed || readableEnded).length;
    await until("the site refuses a connection", () => countEnded() > 0);
    const ended = countEnded();
    for (const socket of sockets) socket.destroy();
    await sleep(200); // Until the site knows.
    assert.equal((await visit(site)).status, 200);
    assertConfirmed(await visitors.signUp(site, 10));
    assert.equal((await visit(site, "/readyz")).status, 200);
    assertRunning(site);
    return `at least ${ended} of 200 connections refused; ${await visitors.assertStored()} sign-ups stored afterwards`;
  },
};
