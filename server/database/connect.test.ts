// Single connections, against a server that refuses the first statement or says nothing.
import { once } from "node:events";
import { createServer, type AddressInfo, type Socket } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { until } from "../../tests/support/run.ts";
import { errorFields } from "../errors.ts";
import { connectTo } from "./connect.ts";

/** One of Postgres' messages, which ends with the state of the session. */
const reply = (type: string, body: string) => {
  const length = Buffer.alloc(4);
  length.writeInt32BE(body.length + 4);
  return Buffer.concat([Buffer.from(type), length, Buffer.from(body), Buffer.from("Z\0\0\0\x05I")]);
};

it.each([
  ["timeout expired", "CONNECT_TIMEOUT"],
  ["timeout exceeded when trying to connect", "CONNECT_TIMEOUT"],
  ["Query read timeout", "QUERY_TIMEOUT"],
  ["Connection terminated unexpectedly", "CONNECTION_LOST"],
  ["Client has encountered a connection error and is not queryable", "CONNECTION_LOST"],
])("the driver's error “%s” has the code %s", (message, code) => {
  expect(errorFields(new Error(message))).toEqual({ name: "Error", code });
});

it.each([
  ["58030", "cannot be reached: 58030"],
  ...["28P01", "28000", "3D000", "42501", "08P01", "XX000"].map((code) => [code, "refuses the connection: no."]),
  ["silence", "cannot be reached: CONNECT_TIMEOUT"],
])("a connection whose first statement gets %s is closed, and Postgres %s", async (code, message) => {
  let socket: Socket | undefined;
  const server = createServer((accepted) => {
    socket = accepted.once("data", () => {
      if (code === "silence") return;
      accepted.write(reply("R", "\0\0\0\0"));
      accepted.once("data", () => accepted.write(reply("E", `SERROR\0C${code}\0Mno\0\0`)));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void (socket?.destroy(), server.close()));
  const { port } = server.address() as AddressInfo;
  let failure: unknown;
  void connectTo(`postgresql://a:b@127.0.0.1:${port}/c`).catch((error: unknown) => (failure = error));
  expect(await until("the attempt ends", () => failure, 20)).toMatchObject({
    name: "OperatorError",
    message: expect.stringContaining(`Postgres at 127.0.0.1:${port} ${message}`) as string,
  });
  await until("the connection is closed", () => socket?.readableEnded || socket?.destroyed, 10);
});
