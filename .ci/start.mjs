// The site as a stranger starts it, with nothing but Node: it stores a sign-up, and Ctrl-C leaves nothing running.
import assert from "node:assert/strict";
import { execSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const windows = process.platform === "win32";
const port = 3123;
const lock = ".data/postgres/data/postmaster.pid";

async function until(condition, check, seconds) {
  for (const deadline = Date.now() + seconds * 1000; !(await check()); await sleep(1000)) {
    assert(Date.now() < deadline, `After ${seconds} s, this does not hold: ${condition}.`);
  }
}

const signUp = () =>
  fetch(`http://127.0.0.1:${port}/api/earlyaccess`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ name: "Ada", email: "ada@example.com", company: "Engines" }),
  }).then(
    ({ status }) => status === 201,
    () => false,
  );

async function isFree(number) {
  const socket = connect(number, "127.0.0.1");
  const refused = await once(socket, "connect").catch(() => true);
  socket.destroy();
  return refused === true;
}

// A process group of its own: the signal reaches the site as that of a terminal does. The settings are those of some shells.
const settings = { PORT: `${port}`, NODE_ENV: "development", npm_config_ignore_scripts: "true" };
const stdio = ["ignore", "inherit", "inherit"];
const site = spawn("npm start", { env: { ...process.env, ...settings }, shell: true, detached: !windows, stdio });
let postgresPort;
try {
  await until("a sign-up is stored", signUp, 300);
  assert.match(execSync("npm run --silent waitlist -- show ada@example.com", { encoding: "utf8" }), /Engines/);
  postgresPort = Number(readFileSync(lock, "utf8").split("\n")[3]);
} finally {
  // Node cannot send Ctrl-Break. After a kill, the next program stops Postgres.
  if (windows) execSync(`taskkill /pid ${site.pid} /T /F && npm run waitlist -- stats`);
  else process.kill(-site.pid, "SIGINT");
}
const hasEnded = async () => (await isFree(port)) && (await isFree(postgresPort)) && !existsSync(lock);
await until("the site and Postgres have ended", hasEnded, 60);
