// The limits of sign-ups, link posts and page views per client and network: multiples of SIGNUP_LIMIT, whose default stands in
// config/settings.ts, in the window of client/shared/promised-times.ts.
import { isIP, isIPv4 } from "node:net";
import type { Request, RequestHandler, Response } from "express";
import { ipKeyGenerator, rateLimit } from "express-rate-limit";
import { limitMinutes } from "../../client/shared/promised-times.ts";
import { HttpError } from "./http-errors.ts";

/** express-rate-limit forgets a client at the end of the window after that of its latest request, as the privacy notice says. */
const windowMs = limitMinutes * 60_000;

/** Multiples of SIGNUP_LIMIT. Links and views add nothing to the list, and a mail provider or a talk sends those of many people. */
const factors = { signup: 1, link: 100, view: 100 };

/** Providers give a household up to a /56 of IPv6, and a company or a rented server up to a /48. */
const scopes = [
  { scope: "client", clients: 1, findKey: (ip: string) => ipKeyGenerator(ip, 56), refundsMistakes: true },
  {
    scope: "network",
    clients: 10,
    findKey: (ip: string) => withoutHost(ipKeyGenerator(ip, 48)),
    refundsMistakes: false,
  },
];

/** Returns the /24 of an IPv4 address. */
const withoutHost = (key: string) => (isIPv4(key) ? key.slice(0, key.lastIndexOf(".")) : key);

/**
 * Refuses with 429 a client above its limit, and a network (IPv4 /24, IPv6 /48) above ten times that.
 * Every request counts, also if its client hangs up. A request above the client's limit does not count for its network, and a 422
 * that was sent counts for the network only: many people behind one address make mistakes.
 */
export function clientLimit(signupLimit: number, kind: keyof typeof factors, refuse = refuseTooMany): RequestHandler[] {
  return scopes.map(({ scope, clients, findKey, refundsMistakes }) =>
    rateLimit({
      identifier: scope,
      limit: factors[kind] * clients * signupLimit,
      windowMs,
      standardHeaders: "draft-8",
      legacyHeaders: false,
      keyGenerator: (req) => copy(findKey(clientIp(req))),
      handler: refuse,
      // The package takes back what it calls successful, once the response is sent.
      skipSuccessfulRequests: refundsMistakes,
      requestWasSuccessful: isAnsweredMistake,
      // The checks print to stderr for a forged X-Forwarded-For, which "trust proxy" ignores.
      validate: false,
    }),
  );
}

/** Node also calls a response sent if its connection was cut off. */
const isAnsweredMistake = ({ socket }: Request, { statusCode }: Response) => statusCode === 422 && !socket.destroyed;

const refuseTooMany: RequestHandler = () => {
  throw new HttpError(429, "Too many requests from this network. Wait as long as Retry-After says.");
};

/** A part of a string keeps the whole string in memory: an X-Forwarded-For of up to 14 KB for each client. */
const copy = (text: string) => Buffer.from(text).toString();

/** Some proxies append the client's port, which changes with every connection. If the header holds no valid IP address, use the socket's. */
function clientIp(req: Request): string {
  const given = req.ip ?? "";
  const ip = given.replace(/^\[(.+)\](?::\d+)?$/, "$1").replace(/^(\d+(?:\.\d+){3}):\d+$/, "$1");
  return isIP(ip) > 0 ? ip : (req.socket.remoteAddress ?? "");
}
