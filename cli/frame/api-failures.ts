import { ApiError, ConnectionError, OAuthError, PlatformError } from "../../packages/client/src/index.ts";
import { CommandError, type FailureKind, messageOf, ownKind, ownObject, UsageError } from "./failures.ts";

const kindOfCode: Readonly<Record<string, FailureKind>> = {
  unauthenticated: "credential",
  permission_denied: "credential",
  not_found: "not_found",
  unavailable: "away",
};

/** Codes of OAuth 2.0 after which the user must sign in again. */
const endsLogin: ReadonlySet<string> = new Set([
  "access_denied",
  "expired_token",
  "invalid_client",
  "invalid_grant",
]);

/** The kind of a failure of a command that calls the API. */
export function kindOf(error: unknown): FailureKind {
  if (error instanceof ApiError) return kindOfCode[error.code] ?? "failed";
  if (error instanceof OAuthError) return endsLogin.has(error.code) ? "credential" : "failed";
  // A request that this program refused to send has its own reason.
  if (error instanceof ConnectionError) return rootOf(error) instanceof OAuthError ? "failed" : "away";
  return ownKind(error) ?? "failed";
}

const rootOf = (error: Error): Error => (error.cause instanceof Error ? rootOf(error.cause) : error);

/** An error as a JSON object, in the form of the API's `error`. */
export function errorObject(error: unknown): object {
  if (error instanceof ApiError) {
    const { code, type, message, status, param, requestId, details, docUrl } = error;
    return {
      code,
      message,
      status,
      type,
      param,
      details: details.length > 0 ? details : undefined,
      doc_url: docUrl,
      request_id: requestId,
    };
  }
  if (error instanceof UsageError || error instanceof CommandError) return ownObject(error);
  return { code: error instanceof OAuthError ? error.code : kindOf(error), message: textOf(error) };
}

/** An error as text, with the way out where one is known. */
export function errorText(error: unknown): string {
  const lines = [textOf(error)];
  if (error instanceof OAuthError && error.code === "invalid_grant")
    lines.push("The login has ended. Sign in again with `atp login`.");
  if (error instanceof ApiError) {
    const others = error.details.filter(({ message }) => !error.message.includes(message));
    lines.push(
      ...others.map(({ param, message }) => `  ${param === undefined ? "" : `${param}: `}${message}`),
    );
    if (error.status === 401) lines.push("Sign in with `atp login`, or check ATP_KEY.");
    if (error.requestId !== undefined) lines.push(`(${error.operation}, request ${error.requestId})`);
  }
  return lines.join("\n");
}

const textOf = (error: unknown): string =>
  error instanceof PlatformError ? error.message : messageOf(error);
