// How long a client may keep the server waiting.

/** In milliseconds. A phone on a bad line moves 2 KB/s and must not be cut off; a slower client is gone within 20 s. */
export interface Timeouts {
  /** For a request's headers. Browsers send 1 KB; Node accepts 16 KB at most. */
  headers: number;
  /** For the whole request. The longest accepted body, 16 KB, needs 8 s at 2 KB/s. */
  request: number;
  /**
   * For the system to take over the rest of a response; it buffers some 70 KB for a slow line. The longest response that a
   * browser requests, 87 KB of script, was taken over after 4 to 12 s by a client that read 2 KB/s.
   */
  read: number;
  /** The interval of the checks for late requests and responses. With Node's default of 30 s, each could be that much later. */
  check: number;
  /**
   * For the next request on a connection. A browser requests what a page needs within a second. A proxy must close first: a
   * sign-up that it sends while we close becomes a 502. nginx and ALB close after 60 s, Caddy after 120 s.
   */
  keepAlive: number;
  /**
   * For the next request on an idle connection once the server stops; closing at once would reset a request on its way. The
   * response says "Connection: close". Short without a proxy, because the site is down meanwhile; a proxy sends new requests elsewhere.
   */
  stopping: number;
}

const common = { headers: 10_000, request: 15_000, read: 13_000, check: 1_000 };
export const directTimeouts: Timeouts = { ...common, keepAlive: 10_000, stopping: 100 };
/** The proxy is the only client, and absorbs slow and idle ones. */
export const proxiedTimeouts: Timeouts = { ...common, keepAlive: 125_000, stopping: 500 };
