import { ApiError, OAuthError, PlatformError } from "../../packages/client/src/index.ts";
import { messageOf, UsageError } from "./failures.ts";

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
  return { code: error instanceof UsageError ? "usage" : error instanceof OAuthError ? error.code : "failed", message: textOf(error) };
}

/** An error as text, with the way out where one is known. */
export function errorText(error: unknown): string {
  const lines = [textOf(error)];
  if (error instanceof OAuthError && error.code === "invalid_grant") lines.push("The login has ended. Sign in again with `atp login`.");
  if (error instanceof ApiError) {
    const others = error.details.filter(({ message }) => !error.message.includes(message));
    lines.push(...others.map(({ param, message }) => `  ${param === undefined ? "" : `${param}: `}${message}`));
    if (error.status === 401) lines.push("Sign in with `atp login`, or check ATP_KEY.");
    if (error.requestId !== undefined) lines.push(`(${error.operation}, request ${error.requestId})`);
  }
  return lines.join("\n");
}

const textOf = (error: unknown): string => (error instanceof PlatformError ? error.message : messageOf(error));
