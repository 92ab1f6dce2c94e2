import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import type { Failure } from "../../core/failure.ts";
import { refusalOf } from "../shared/refusal.ts";

export type Block =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "image"; readonly data: string; readonly mimeType: string }
  | {
      readonly type: "resource";
      readonly resource: { readonly uri: string; readonly mimeType: string; readonly blob: string };
    };

export interface ToolResult {
  readonly content: Block[];
  readonly isError?: true;
}

/** The longest text of a result, in characters: it becomes a part of a model's prompt. */
export const textMax = 100_000;

/** A result as JSON text. A longer one is cut, and says so. */
export function jsonResult(value: unknown): ToolResult {
  const text = JSON.stringify(value, null, 1);
  const cut = `${text.slice(0, textMax)}\n… cut: the result has ${text.length} characters, of which ${textMax} are shown. Ask for less, for example with limit.`;
  return { content: [{ type: "text", text: text.length <= textMax ? text : cut }] };
}

/** A refusal as the result of a tool, which the model reads: code, message and field. @throws other errors */
export function errorResult(thrown: unknown): ToolResult {
  const { reason, message, path, retryAfter } = refusalIn(thrown);
  const error = {
    code: reason,
    message,
    ...(path && { field: path }),
    ...(retryAfter !== undefined && { retry_after_seconds: retryAfter }),
  };
  return { content: [{ type: "text", text: JSON.stringify({ error }) }], isError: true };
}

/**
 * Runs a request that has no result for a refusal: a refusal is an error of the protocol. @throws
 * ProtocolError
 */
export async function protocolErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    const { reason, message, path } = refusalIn(thrown);
    const isCallers = reason === "invalid_argument" || reason === "not_found";
    throw new ProtocolError(
      isCallers ? ProtocolErrorCode.InvalidParams : ProtocolErrorCode.InternalError,
      message,
      {
        code: reason,
        field: path,
      },
    );
  }
}

function refusalIn(thrown: unknown): Failure {
  const refusal = refusalOf(thrown);
  if (refusal === null) throw thrown;
  return refusal;
}
