// How long a client may keep the server waiting, in milliseconds.

/** A phone on a bad line still moves 2 KB/s and must not be cut off; who moves next to nothing is gone within 20 s. */
export interface Timeouts {
  /** For a request's headers; browsers send 1 KB, Node takes 16 KB at most. */
  headers: number;
  /** For the whole request; the longest body that is taken, 16 KB, needs 8 s at 2 KB/s. */
  request: number;
  /**
   * For the system to take over the rest of an answer, of which it holds some 70 KB for a slow line. The longest that a browser
   * asks for, 87 KB of script, was taken over after 4 to 12 s where 2 KB/s were read.
   */
  reading: number;
  /** How often requests and answers that are late are looked for; Node's own 30 s would give each that much more. */
  check: number;
  /**
   * For the next request on a connection. A browser asks for what a page needs within a second. A proxy must be the first
   * to close, as a sign-up sent in the moment in which we do ends as its 502: nginx and ALB close after 60 s, Caddy after 120 s.
   */
  kept: number;
  /**
   * For the next request on an idle connection once the server stops, which would reset a request that is on its way. Its response
   * says "Connection: close". Short without a proxy, as nobody listens meanwhile; a proxy sends new requests to another process.
   */
  stopping: number;
}

const common = { headers: 10_000, request: 15_000, reading: 13_000, check: 1_000 };
export const directTimeouts: Timeouts = { ...common, kept: 10_000, stopping: 100 };
/** The proxy is the only client there, and keeps slow and idle ones to itself. */
export const proxiedTimeouts: Timeouts = { ...common, kept: 125_000, stopping: 500 };
