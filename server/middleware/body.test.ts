// The bodies of sign-ups: how many may arrive slowly at once.
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { createTestApp, noDatabase } from "../../tests/support/app.ts";
import { until, within } from "../../tests/support/run.ts";
import { createHttpServer } from "../http/server.ts";
import { timeLimits } from "../time-limits.ts";
import { mostBodies } from "./body.ts";

const body = JSON.stringify({ name: "Ada", email: "ada@example.com", company: "Engines" });
const head = `POST /api/earlyaccess HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`;

/** Starts a site that stores nothing. Returns functions that send sign-ups to it. */
async function start() {
  const { application, logged } = await createTestApp(noDatabase, { waitlist: { add: async () => undefined } });
  const http = createHttpServer();
  http.serve(application);
  onTestFinished(() => http.close());
  const port = await http.listen("127.0.0.1", 0);
  const open = async (bytes: string) => {
    const socket = connect({ port, host: "127.0.0.1" }).setEncoding("utf8");
    onTestFinished(() => void socket.destroy());
    await once(socket, "connect");
    socket.write(bytes);
    return socket;
  };
  /** Sends the headers and a part of the body. */
  const begin = (headers = "") => open(head.replace("\r\n", `\r\n${headers}`) + body.slice(0, 9));
  /** Sends a slow body, and returns whether the site has room for it. */
  const hasRoom = async () => {
    const socket = await begin();
    const response = receive(socket);
    await Promise.race([response, sleep(10 * timeLimits.restOfBody)]); // By then, the site has counted or refused it.
    socket.write(body.slice(9));
    return isStored(await response);
  };
  return { begin, hasRoom, logged, sendWhole: async () => receive(await open(head + body)) };
}

/** Returns the start of the response. */
const receive = async (socket: Socket) => (await within("the response", once(socket, "data")))[0] as string;

const isStored = (response: string) => response.startsWith("HTTP/1.1 201 ");

const fill = (send: () => Promise<Socket>) => Promise.all(Array.from({ length: mostBodies }, () => send()));

it("the site reads a fixed number of slow bodies at once, refuses the next with 503, and accepts one that arrives whole", async () => {
  const { begin, hasRoom, logged, sendWhole } = await start();
  const slow = await fill(begin);
  const refused = await receive(await begin());
  expect(refused).toMatch(/^HTTP\/1\.1 503 (?=[^]*\r\nConnection: close\r\n)[^]*\r\nRetry-After: 15\r\n/);
  expect(logged()).toContain("SLOW_BODIES");
  expect(await sendWhole()).toSatisfy(isStored);
  expect(await hasRoom()).toBe(false);
  slow[0]?.write(body.slice(9));
  await until("there is room after a body", hasRoom);
  await begin();
  expect(await hasRoom()).toBe(false);
  slow[1]?.destroy();
  await until("there is room after a connection", hasRoom);
});

it("a refused body takes no place when its client hangs up", async () => {
  const { begin, hasRoom } = await start();
  await fill(async () => {
    const socket = await begin("Content-Encoding: gzip\r\n");
    expect(await receive(socket)).toMatch(/^HTTP\/1\.1 415 /);
    return socket.destroy();
  });
  await until("there is room", hasRoom);
});
