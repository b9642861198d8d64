// What of a database error may be logged: never its text, in which drivers quote the values of the statement.

export interface ErrorFields {
  name: string;
  code?: string | undefined;
  /** Postgres' own code or the system's, where Prisma wrapped it. */
  cause?: string | undefined;
}

/** node-postgres gives these errors of its own no code. */
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
  const cause = meta?.driverAdapterError?.cause;
  const known = codes.find(([pattern]) => pattern.test(message ?? ""))?.[1];
  return { name, code: code ?? known, cause: cause?.originalCode ?? cause?.kind };
}
