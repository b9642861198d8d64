// The fields of a database error that may be logged: never its message, in which drivers quote values of the statement.

export interface ErrorFields {
  name: string;
  /** Postgres' own code; otherwise the code of the driver or the system. */
  code?: string | undefined;
}

/** Errors of node-postgres that have no code. */
const codes: [RegExp, string][] = [
  [/^timeout (expired|exceeded)/, "CONNECT_TIMEOUT"],
  [/^Query read timeout/, "QUERY_TIMEOUT"],
  [/^Connection terminated/, "CONNECTION_LOST"],
];

export function errorFields(error: unknown): ErrorFields {
  const { name, code, message, meta } = error as {
    name: string;
    code?: string;
    message?: string;
    meta?: { driverAdapterError?: { cause?: { originalCode?: string; kind?: string } } };
  };
  // Prisma's own code says only that a raw query failed (P2010).
  const cause = meta?.driverAdapterError?.cause;
  const known = codes.find(([pattern]) => pattern.test(message ?? ""))?.[1];
  return { name, code: cause?.originalCode ?? cause?.kind ?? code ?? known };
}
