// The time limits of a visitor's request, in its order, the number of connections that the statements share, and a timer.

/** In milliseconds, but for `retryAfterSeconds`. */
export const timeLimits = {
  /** For a request's headers. Browsers send 1 KB; Node accepts 16 KiB. A phone on a bad line moves 2 KB/s and must not be cut off. */
  headers: 10_000,
  /** For the whole request. The longest accepted body, 16 KiB, takes 8 s at 2 KB/s. */
  request: 15_000,
  /** The interval of the checks for requests that are too slow. */
  slowRequestCheck: 4_000,
  /** Without a byte in either direction. A change takes up to 5 s. */
  inactivity: 13_000,

  /** For a lock that another transaction holds: of a batch, and of a change that goes alone, which is then refused. */
  lock: 60,
  /** For a connection, and for a statement: a sign-up can leave a dead connection before its deadline. */
  statement: 2_000,
  /** The least time of a change. It hides whether the address was known, which takes Postgres less than a millisecond more or less. */
  floor: 100,
  /** For a change from its arrival: a statement of others, its own, and a little more. The response comes within 5 s. */
  change: 4_500,
  /** After a change that failed. Long enough for a database to restart, short enough for a visitor to wait. */
  retryAfterSeconds: 15,

  /** For the check of /readyz. Shorter than the timeout of a prober, so that the site says 503 before the prober gives up. */
  probe: 1_500,

  /** For the next request of a connection. A proxy must close an idle one first, or a sign-up becomes a 502: nginx and ALB close after 60 s, Caddy after 120 s. */
  keepAlive: 125_000,
  /** For the next request while the site stops: a proxy may have sent it before it learns that the connection closes. */
  keepAliveOfStop: 500,
  /** For the requests in progress when the site stops. Windows ends a process 5 s after its console is closed. */
  grace: process.platform === "win32" ? 2_000 : 10_000,
};

/**
 * Connections of the site to Postgres, as many as node-postgres opens by default. Sign-ups and links share them: each runs one batch,
 * and four changes that go alone (models/batch.ts). docs/postgres.md names the number.
 */
export const poolSize = 10;

/** Rejects with QUERY_TIMEOUT if the work takes longer. The work goes on. */
export function within<T>(ms: number, work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const giveUp = () => reject(Object.assign(new Error("Postgres takes too long"), { code: "QUERY_TIMEOUT" }));
    const timer = setTimeout(giveUp, ms);
    work.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
