// Records the sign-ups that tests send and the lines that the site logs, for the search at the end of the run (global-setup.ts).
import { appendFileSync } from "node:fs";
import { ClientRequest } from "node:http";
import { join } from "node:path";

/** Set by global-setup.ts; without it nothing is recorded. */
const folder = process.env.PERENNIAL_TEST_RECORDS;

export function keepSent(body: unknown): void {
  keep("sent", body instanceof Uint8Array ? Buffer.from(body).toString() : body);
}

export function keepLog(text: string): void {
  keep("logs", text);
}

function keep(kind: "sent" | "logs", text: unknown): void {
  if (folder && typeof text === "string" && text !== "") appendFileSync(join(folder, kind), `${text}\n`);
}

/** Records what tests send with fetch and with Node's client, which supertest uses; browser.ts records what browsers send. */
export function watchRequests(): void {
  const { fetch } = globalThis;
  globalThis.fetch = (input, init) => {
    keepSent(init?.body);
    return fetch(input, init);
  };
  // oxlint-disable-next-line typescript/unbound-method -- called with its own `this` below
  const { write, end } = ClientRequest.prototype;
  Object.assign(ClientRequest.prototype, {
    write(this: ClientRequest, ...args: Parameters<typeof write>) {
      keepSent(args[0]);
      return write.apply(this, args);
    },
    end(this: ClientRequest, ...args: Parameters<typeof end>) {
      keepSent(args[0]);
      return end.apply(this, args);
    },
  });
}
