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

interface AdminValues {
  readonly ADMIN_HOST: string;
  readonly ADMIN_PORT: number | null;
  readonly ADMIN_TOKEN_FILE: string | null;
}

/** The operators' port with its token; null without ADMIN_PORT. */
export function readAdmin(
  { ADMIN_HOST, ADMIN_PORT, ADMIN_TOKEN_FILE }: AdminValues,
  { noteProblem }: Pick<Reader, "noteProblem">,
): AdminConfig | null {
  if (ADMIN_PORT === null) return null;
  const token = ADMIN_TOKEN_FILE === null ? null : readToken(ADMIN_TOKEN_FILE);
  if (token === undefined) {
    const text = `ADMIN_TOKEN_FILE: ${ADMIN_TOKEN_FILE} must be a readable file with a token of 16 to 512 printable characters without blanks`;
    noteProblem("ADMIN_TOKEN_FILE", text);
  }
  return { host: ADMIN_HOST, port: ADMIN_PORT, token: token ?? null, isLocal: isLoopback(ADMIN_HOST) };
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
