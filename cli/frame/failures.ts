import { ApiError, OAuthError, PlatformError } from "../../packages/client/src/index.ts";

/** The command line is not valid: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The command failed: exit code 1. The message is for the user. */
export class CommandError extends Error {
  override readonly name = "CommandError";
}

/** Exit codes: 0 for success, 1 for a failure, 2 for a command line that is not valid. */
export const exitCodeOf = (error: unknown): number => (error instanceof UsageError ? 2 : 1);

/** Stricli's own codes are negative: -4 and -5 are a command line that is not valid. */
export const exitCodeOfFrame = (code: number | string | null | undefined): number => {
  const given = Number(code ?? 0);
  if (given >= 0) return given;
  return given === -4 || given === -5 ? 2 : 1;
};

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
  return { code: error instanceof UsageError ? "usage" : error instanceof OAuthError ? error.code : "failed", message: messageOf(error) };
}

/** An error as text, with the way out where one is known. */
export function errorText(error: unknown): string {
  const lines = [messageOf(error)];
  if (error instanceof OAuthError && error.code === "invalid_grant") lines.push("The login has ended. Sign in again with `atp login`.");
  if (error instanceof ApiError) {
    const others = error.details.filter(({ message }) => !error.message.includes(message));
    lines.push(...others.map(({ param, message }) => `  ${param === undefined ? "" : `${param}: `}${message}`));
    if (error.status === 401) lines.push("Sign in with `atp login`, or check ATP_KEY.");
    if (error.requestId !== undefined) lines.push(`(${error.operation}, request ${error.requestId})`);
  }
  return lines.join("\n");
}

/** Errors that are not meant for the user have their name too. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const isMeant = error instanceof UsageError || error instanceof CommandError || error instanceof PlatformError || isSystemError(error);
  return isMeant ? error.message : `${error.name}: ${error.message}`;
}

/** An error of Node about a file, for example ENOENT. */
const isSystemError = (error: Error): boolean => "syscall" in error && "code" in error;
