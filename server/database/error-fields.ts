// What of a database error may be logged: never its text, in which drivers quote the values of the statement.

export interface ErrorFields {
  name: string;
  code?: string | undefined;
  /** Postgres' own code or the system's, where Prisma wrapped it. */
  cause?: string | undefined;
}

export function errorFields(error: unknown): ErrorFields {
  const { name, code, meta } = error as {
    name: string;
    code?: string;
    meta?: {
      driverAdapterError?: { cause?: { originalCode?: string; kind?: string } };
    };
  };
  const cause = meta?.driverAdapterError?.cause;
  return { name, code, cause: cause?.originalCode ?? cause?.kind };
}
