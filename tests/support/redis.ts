// A real Redis or Valkey, which keeps nothing.
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { freePort } from "./free-port.ts";

export interface RedisServer {
  url: string;
  signal(name: NodeJS.Signals): void;
  /** Starts it again, empty, after it was killed. */
  startAgain(): Promise<void>;
  /** Everything that it holds, keys and values. */
  contents(): Promise<string>;
  stop(): Promise<void>;
}

/** @throws where neither redis-server nor valkey-server is installed. */
export async function startRedis(): Promise<RedisServer> {
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  let server = await run("redis-server", port).catch(() => run("valkey-server", port));
  await answers(url);
  return {
    url,
    signal: (name) => server.kill(name),
    startAgain: async () => {
      server = await run(server.spawnfile, port);
      await answers(url);
    },
    contents: async () => {
      const client = new Redis(url);
      const keys = await client.keys("*");
      const values = await Promise.all(keys.map((key) => client.get(key)));
      client.disconnect();
      return JSON.stringify({ keys, values });
    },
    stop: async () => {
      if (server.exitCode !== null || server.signalCode !== null) return;
      server.kill("SIGKILL");
      await once(server, "exit");
    },
  };
}

async function run(program: string, port: number): Promise<ChildProcess> {
  const server = spawn(program, ["--port", String(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"], {
    stdio: "ignore",
  });
  try {
    await once(server, "spawn");
  } catch (cause) {
    throw new Error("A real Redis is needed, for example Debian's package redis-server.", { cause });
  }
  return server;
}

async function answers(url: string): Promise<void> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on("error", () => undefined);
  while (
    (await client.connect().then(
      () => client.ping(),
      () => "",
    )) !== "PONG"
  )
    await sleep(20);
  client.disconnect();
}
