import type { Worker } from "node:worker_threads";
import type { DescMessage } from "@bufbuild/protobuf";
import { createThread, startThread, type Thread } from "../../async/thread.ts";
import { Failure, type Reason } from "../../core/failure.ts";
import type { IncomingBody } from "../incoming-body.ts";
import { freeBody } from "../pieces.ts";
import { checkBytes } from "./check-bytes.ts";
import { type Table, tableOf } from "./protobuf-table.ts";

/** Larger bodies are checked in a thread. */
const threadBytes = 1024 ** 2;
const threadCount = 2;
const idleMs = 60_000;

/** A body to check: its memory moves to the thread and comes back. */
export interface CheckRequest {
  readonly memory: ArrayBuffer;
  readonly offset: number;
  readonly length: number;
  /** The type of a binary message; null: JSON. */
  readonly table: Table | null;
}

/** White space at the end of JSON is cut off. A refused body's memory does not come back. */
export type CheckAnswer =
  | { readonly memory: ArrayBuffer; readonly length: number }
  | { readonly reason: Reason; readonly message: string };

/** What the thread found about a body; null: it is right. */
const results = new WeakMap<Uint8Array, Failure | null>();

type CheckThread = Thread<CheckRequest, CheckAnswer>;

export type CheckBodies = (bytes: Uint8Array<ArrayBuffer>, desc: DescMessage | null) => Promise<Uint8Array>;

export function bodyChecker(start: () => Worker, idle = idleMs): CheckBodies {
  const threads = Array.from({ length: threadCount }, (): CheckThread => createThread(start, idle));
  return async (bytes, desc) => {
    const { buffer, byteOffset, length } = bytes;
    const [thread] = threads.toSorted((one, other) => one.waiting - other.waiting);
    if (thread === undefined) return bytes;
    const request = { memory: buffer, offset: byteOffset, length, table: desc && tableOf(desc) };
    const answer = await thread.ask(request, [buffer]).catch((cause: unknown) => {
      throw new Failure("unavailable", "the body could not be checked; try again", { cause, retryAfter: 1 });
    });
    const checked =
      "memory" in answer ? new Uint8Array(answer.memory, byteOffset, answer.length) : new Uint8Array();
    results.set(checked, "memory" in answer ? null : new Failure(answer.reason, answer.message));
    return checked;
  };
}

const checkInThread = bodyChecker(() => startThread(new URL("./check-worker.ts", import.meta.url)));

/**
 * Counts a decoded body, and checks a body above 1 MiB in a thread. `checkBody` knows the result. The bytes
 * that were passed may be gone afterwards: use those that are returned.
 *
 * @param desc the type of a binary message; null: JSON.
 * @throws Failure `rate_limited` when the account's bytes of the minute are used up, `unavailable` when the
 * thread ends.
 */
export async function prepareBody(
  bytes: Uint8Array,
  desc: DescMessage | null,
  body: IncomingBody | undefined,
): Promise<Uint8Array> {
  if (bytes.length > 0) await body?.spend(bytes.length);
  if (bytes.length <= threadBytes || !(bytes.buffer instanceof ArrayBuffer)) return bytes;
  return checkInThread(bytes as Uint8Array<ArrayBuffer>, desc);
}

/**
 * Refuses a body that would cost too much to build, and frees the bytes of a large one. JSON must be UTF-8.
 *
 * @param desc the type of a binary message; null: JSON.
 * @throws Failure `too_large`, `invalid_argument`
 */
export function checkBody(bytes: Uint8Array, desc: DescMessage | null): void {
  const result = results.get(bytes);
  if (result === null) return;
  try {
    if (result) throw result;
    checkBytes(bytes, desc && tableOf(desc));
  } catch (thrown) {
    freeBody(bytes);
    throw thrown;
  }
}
