import { ConnectionError } from "./errors.ts";
import type { Tokens } from "./oauth.ts";
import { OAuthError } from "./oauth-error.ts";

/** A sign-in on another device that has begun (RFC 8628): show the user the address and the code. */
export interface DeviceBegun {
  /** The page on which the user enters the code. */
  readonly verificationUri: string;
  /** The same page with the code in its field, for a QR code; absent if the server has none. */
  readonly verificationUriComplete?: string;
  readonly userCode: string;
  /** Secret. */
  readonly deviceCode: string;
  /** When the codes expire, in Unix milliseconds. */
  readonly expiresAt: number;
  /** How long to wait before each question, in milliseconds. */
  readonly intervalMs: number;
}

/**
 * Reads an answer to a device authorization request (RFC 8628 3.2). @throws OAuthError for one that lacks a
 * member
 */
export function readDevice(answer: Readonly<Record<string, unknown>>, now: number): DeviceBegun {
  const text = (name: string): string => {
    const value = answer[name];
    if (typeof value !== "string" || value === "")
      throw new OAuthError("server_error", `the answer has no ${name}`);
    return value;
  };
  const complete = answer["verification_uri_complete"];
  return {
    verificationUri: text("verification_uri"),
    ...(typeof complete === "string" ? { verificationUriComplete: complete } : {}),
    userCode: text("user_code"),
    deviceCode: text("device_code"),
    expiresAt: now + Number(answer["expires_in"]) * 1000,
    intervalMs: Number(answer["interval"] ?? 5) * 1000,
  };
}

/** What a client needs to wait. */
interface Waiting {
  readonly ask: () => Promise<Tokens>;
  readonly pause: (ms: number) => Promise<void>;
  readonly now: () => number;
}

/** The user has not answered yet. */
const isPending = (error: unknown): boolean =>
  error instanceof OAuthError && error.code === "authorization_pending";
/** The server asks for fewer questions, by the standard's code or by a limit. */
const isTooFast = (error: unknown): boolean =>
  error instanceof OAuthError && (error.code === "slow_down" || error.code === "temporarily_unavailable");

/**
 * Asks until the user has answered (RFC 8628 3.5): no sooner than the server allows, and half as often after
 * each lost connection.
 *
 * @throws OAuthError `access_denied` when the user refuses, `expired_token` without an answer in time
 */
export async function waitForUser(
  { expiresAt, intervalMs }: DeviceBegun,
  { ask, pause, now }: Waiting,
): Promise<Tokens> {
  let wait = intervalMs;
  while (now() < expiresAt) {
    await pause(wait);
    try {
      return await ask();
    } catch (error) {
      if (isTooFast(error)) wait += 5_000;
      else if (error instanceof ConnectionError) wait = Math.min(wait * 2, 60_000);
      else if (!isPending(error)) throw error;
    }
  }
  throw new OAuthError("expired_token", "the user has not answered in time");
}
