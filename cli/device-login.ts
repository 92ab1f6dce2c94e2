import { type DeviceBegun, OAuthError, type Tokens } from "../packages/client/src/index.ts";
import { clientOf } from "./browser-login.ts";
import type { CliContext } from "./frame/context.ts";
import { interrupted } from "./frame/failures.ts";
import { originOf } from "./profiles.ts";

/** A login on another device. */
export interface DeviceLogin {
  readonly origin: string;
  readonly clientId: string;
  /** Gets the page to open, and the code to enter there. */
  readonly show: (begun: Pick<DeviceBegun, "verificationUri" | "userCode">) => void;
}

/**
 * Signs in with a browser of another device: the user enters a code there (RFC 8628).
 *
 * @throws OAuthError when the user refuses or does not answer in time, or the installation or the app has no
 * such login
 */
export async function signInWithDevice(
  context: CliContext,
  { origin, clientId, show }: DeviceLogin,
): Promise<Tokens> {
  const oauth = clientOf(context, origin, clientId);
  const ended = Promise.withResolvers<never>();
  const end = context.onInterrupt(() => ended.reject(interrupted()));
  try {
    const begun = await oauth.beginDevice();
    originOf(begun.verificationUri); // The page is encrypted, or on this machine.
    show(begun);
    return await Promise.race([oauth.finishDevice(begun), ended.promise]);
  } finally {
    end();
  }
}

/**
 * Whether an installation or an app has no login with a code: it is an older one, or the app does not allow
 * it.
 */
export const hasNoDevices = (error: unknown): boolean =>
  error instanceof OAuthError &&
  (error.code === "unsupported_grant_type" || error.code === "unauthorized_client");
