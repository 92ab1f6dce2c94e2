import type {
  Client,
  FileDetail,
  OperationName,
  RequestOf,
  WatchEvent,
} from "../../../packages/client/src/index.ts";
import type { Rights } from "../../pipeline/access.ts";

/** A file as lists and details describe it. */
export type StoredFile = Pick<FileDetail, "id" | "filename" | "status"> &
  Partial<Pick<FileDetail, "bytes" | "content_type" | "download_url">>;

/**
 * The client of one request, over HTTP or in this process: its calls end with the request, and a member that
 * has no effect is refused, because a model repeats what it got no error for. Calls throw ApiError.
 */
export interface CallerClient extends Client {
  /** What the caller may do. */
  rights(): Promise<Rights>;
  /** At most `most` bytes from the beginning of a file. */
  bytesOf(file: StoredFile, most: number): Promise<Uint8Array>;
}

/** A client that knows its idempotency records. */
export interface RecordedClient extends CallerClient {
  /**
   * Whether a change with this key was made before, by the same request. @throws ApiError `already_exists`
   * after another request.
   */
  wasMade<Name extends OperationName>(
    name: Name,
    request: RequestOf<Name>,
    idempotencyKey: string,
  ): Promise<boolean>;
}

/**
 * Watches a task from the event after `afterSeq` until it does not run, with the texts that are written now.
 */
export const watchTurn = (
  client: Client,
  taskId: string,
  afterSeq: number,
  signal?: AbortSignal,
): AsyncGenerator<WatchEvent> =>
  client.tasks.watch(taskId, { afterSeq, untilSettled: true, deltas: true, signal });
