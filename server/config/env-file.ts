// The file .env of the working directory.
import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { parseEnv } from "node:util";
import { OperatorError } from "../operator-messages.ts";

/**
 * Returns the variables in .env, none if there is no such file.
 * @throws OperatorError if .env cannot be read or is not UTF-8.
 */
export function readEnvFile(): NodeJS.Dict<string> {
  const bytes = readBytes();
  // PowerShell's ">" writes UTF-16, which parseEnv cannot read.
  if (!isUtf8(bytes) || bytes.includes(0)) {
    throw new OperatorError(
      ".env is not UTF-8. Save it as UTF-8, in PowerShell with: (Get-Content .env) | Set-Content -Encoding utf8 .env",
    );
  }
  // A byte order mark, which Windows editors write, would become part of the first name.
  return parseEnv(bytes.toString().replace(/^\uFEFF/, ""));
}

function readBytes(): Buffer {
  try {
    return readFileSync(".env");
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return Buffer.alloc(0);
    if (code === "EISDIR") {
      // Docker makes a directory where a file to be mounted does not exist.
      throw new OperatorError(
        ".env is a directory. Remove it, and make a file of it, for example: cp .env.example .env",
      );
    }
    throw new OperatorError(`.env cannot be read (${code}). Let this account read it, for example: chmod u+r .env`);
  }
}
