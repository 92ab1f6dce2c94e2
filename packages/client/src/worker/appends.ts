import { ApiError, refusalIn } from "../errors.ts";
import type { AppendRequest, AppendResponse, AppendResult } from "../generated/worker.ts";
import type { CallOptions } from "../transport.ts";
import { lostOr, type WorkerCall } from "./calls.ts";

/**
 * The bounds of a batch: appends and events of the server, and characters, so that small appends do not wait
 * for large ones.
 */
const appendsMax = 32;
const eventsMax = 100;
const lengthMax = 262_144;

interface Waiting {
  readonly request: AppendRequest;
  readonly options: CallOptions;
  readonly length: number;
  readonly resolve: (answer: AppendResponse) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Sends the appends of several runs together: those that wait while a batch is sent form the next one. One
 * that waits alone is sent by Append, as all are to a server without AppendBatch.
 */
export function batchAppends(call: WorkerCall): WorkerCall {
  let waiting: Waiting[] = [];
  let isSending = false;
  let isSupported = true;

  /** The first appends that fit in one call. */
  function take(): readonly Waiting[] {
    let [events, length] = [0, 0];
    const end = waiting.findIndex((each, index) => {
      events += each.request.events?.length ?? 0;
      length += each.length;
      return index > 0 && (index >= appendsMax || events > eventsMax || length > lengthMax);
    });
    const taken = end < 0 ? waiting : waiting.slice(0, end);
    waiting = waiting.slice(taken.length);
    return taken;
  }

  async function sendAlone({ request, options, resolve, reject }: Waiting): Promise<void> {
    await call("Append", request, options).then(resolve, reject);
  }

  async function sendTogether(batch: readonly Waiting[]): Promise<void> {
    const { results = [] } = await call(
      "AppendBatch",
      { appends: batch.map(({ request }) => request) },
      { signal: whenAllAborted(batch) },
    );
    for (const [index, each] of batch.entries()) await settle(each, results[index]);
  }

  /** An append that may succeed later is repeated by itself. */
  async function settle(each: Waiting, { appended, error }: AppendResult = {}): Promise<void> {
    if (appended) return each.resolve(appended);
    const { code = "internal", message = "" } = error ?? {};
    if (code === "unavailable" || code === "internal") return sendAlone(each);
    each.reject(lostOr(refusalIn({ code, message }, { status: 400, operation: "Append" })));
  }

  async function send(batch: readonly Waiting[]): Promise<void> {
    if (batch.length === 1 || !isSupported) return void (await Promise.all(batch.map(sendAlone)));
    try {
      await sendTogether(batch);
    } catch (error) {
      if (!(error instanceof ApiError)) return batch.forEach(({ reject }) => void reject(error));
      // A server of an earlier version does not know the method, and one append may break a rule of the
      // request.
      isSupported = error.code !== "unimplemented" && error.status !== 404;
      await Promise.all(batch.map(sendAlone));
    }
  }

  async function sendAll(): Promise<void> {
    isSending = true;
    // Appends of the same moment wait for each other.
    await Promise.resolve();
    while (waiting.length > 0) await send(take());
    isSending = false;
  }

  async function append(request: AppendRequest, options: CallOptions): Promise<AppendResponse> {
    let gone: (() => void) | undefined;
    try {
      return await new Promise((resolve, reject) => {
        gone = () => {
          waiting = waiting.filter((each) => each.request !== request);
          reject(options.signal?.reason);
        };
        options.signal?.addEventListener("abort", gone, { once: true });
        waiting.push({ request, options, length: JSON.stringify(request).length, resolve, reject });
        if (!isSending) void sendAll();
      });
    } finally {
      if (gone) options.signal?.removeEventListener("abort", gone);
    }
  }

  return ((name, request, options = {}) =>
    name === "Append"
      ? append(request as AppendRequest, options)
      : call(name, request, options)) as WorkerCall;
}

/** Aborted when no append of the batch is waited for: the end of one run does not end the call. */
function whenAllAborted(batch: readonly Waiting[]): AbortSignal {
  const all = new AbortController();
  let left = batch.length;
  for (const { options } of batch)
    options.signal?.addEventListener(
      "abort",
      () => {
        left -= 1;
        if (left === 0) all.abort(options.signal?.reason);
      },
      { once: true },
    );
  return all.signal;
}
