// A thread of `bodyChecker`.
import { parentPort } from "node:worker_threads";
import type { Numbered } from "../../async/thread.ts";
import { Failure } from "../../core/failure.ts";
import type { CheckAnswer, CheckRequest } from "./check.ts";
import { checkBytes } from "./check-bytes.ts";

const isBlank = (byte: number | undefined): boolean =>
  byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;

/** The length without white space at the end, which costs the parser as much as content. */
function textLength(bytes: Uint8Array): number {
  let { length } = bytes;
  while (length > 0 && isBlank(bytes[length - 1])) length--;
  return length;
}

function answer({ memory, offset, length, table }: CheckRequest): CheckAnswer {
  try {
    const bytes = new Uint8Array(memory, offset, length);
    checkBytes(bytes, table);
    return { memory, length: table === null ? textLength(bytes) : length };
  } catch (thrown) {
    if (!(thrown instanceof Failure)) throw thrown;
    // Frees the memory now: the heap of this thread is too small to be collected soon.
    memory.transfer(0);
    const { reason, message } = thrown;
    return { reason, message };
  }
}

parentPort?.on("message", ({ id, value }: Numbered<CheckRequest>) => {
  const sent = answer(value);
  parentPort?.postMessage(
    { id, value: sent } satisfies Numbered<CheckAnswer>,
    "memory" in sent ? [sent.memory] : [],
  );
});
