import { ApiError, ConnectionError } from "../../packages/client/src/index.ts";

/** A server that refuses all calls. */
const fatalStatuses: ReadonlySet<number> = new Set([401, 429, 503]);

/** Whether an error ends the import: the next object would have it too. */
export const isFatal = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  (error instanceof ApiError &&
    (fatalStatuses.has(error.status) || (error.status === 403 && error.operation.startsWith("import."))));

/** An error as a reason of the report. */
export function messageOf(error: unknown): string {
  if (error instanceof ApiError) return `${error.operation}: ${error.message}`;
  return error instanceof Error ? error.message : String(error);
}
