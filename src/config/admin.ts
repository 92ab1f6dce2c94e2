import { readFileSync } from "node:fs";
import { isLoopback } from "./sign-in.ts";
import type { Reader } from "./variable.ts";

/** The operators' port. */
export interface AdminConfig {
  readonly host: string;
  readonly port: number;
  /** The token that callers of `/metrics` need; null: none. */
  readonly token: string | null;
  /** Only this machine can connect. */
  readonly isLocal: boolean;
}

const tokenPattern = /^[\x21-\x7e]{16,512}$/;

/** The values of the variables. */
interface AdminValues {
  readonly ADMIN_HOST: string;
  readonly ADMIN_PORT: number | null;
  readonly ADMIN_TOKEN_FILE: string | null;
}

/** The operators' port with its token; null without ADMIN_PORT. */
export function readAdmin(
  { ADMIN_HOST: host, ADMIN_PORT: port, ADMIN_TOKEN_FILE: path }: AdminValues,
  { noteProblem }: Pick<Reader, "noteProblem">,
): AdminConfig | null {
  if (port === null) return null;
  const token = path === null ? null : readToken(path);
  if (token === undefined) {
    const text = `ADMIN_TOKEN_FILE: ${path} must be a readable file with a token of 16 to 512 printable characters without blanks`;
    noteProblem("ADMIN_TOKEN_FILE", text);
  }
  return { host, port, token: token ?? null, isLocal: isLoopback(host) };
}

/** A token without its line break; undefined without a valid one. */
function readToken(path: string): string | undefined {
  try {
    const token = readFileSync(path, "utf8").trim();
    return tokenPattern.test(token) ? token : undefined;
  } catch {
    return undefined;
  }
}
