import type { Caller } from "./calls.ts";
import { taskChanges } from "./changes.ts";
import { TimeoutError } from "./errors.ts";
import type { Task } from "./generated/v2.ts";
import { timeLimit } from "./runtime.ts";
import { backoffMs, type CallOptions, isTransient, type Transport } from "./transport.ts";

/** Settings of a wait. */
export interface WaitOptions extends Pick<CallOptions, "signal" | "headers"> {
  /** Milliseconds after which the wait fails with a TimeoutError; the task continues. Default: no limit. */
  readonly timeoutMs?: number | undefined;
}

/** Waits until a task is settled. @throws TimeoutError */
export type Settled = (id: string, options?: WaitOptions) => Promise<Task>;

/** The longest time for which the server holds a call. */
const heldSeconds = 50;
/**
 * This many waits have a call each that the server holds. The server allows 100 of an account
 * (`WATCH_LIMIT`).
 */
const heldMax = 20;
/**
 * When a task is looked at again: at least once a minute next to a stream, and after 1 to 5 s without one.
 */
const [followedMs, firstPollMs, lastPollMs] = [60_000, 1000, 5000];

/**
 * The waits of one client. Above 20 at once they follow one stream of the changes of all tasks, or poll where
 * it is refused.
 */
export function settledTasks(http: Transport, { call }: Pick<Caller, "call">): Settled {
  const wakes = new Map<string, Set<() => void>>();
  let waits = 0;
  let following: Following | undefined;

  const wake = (id: string) => wakes.get(id)?.forEach((each) => void each());
  const begin = () => followTasks(http, wake, () => [...wakes.keys()].forEach(wake));

  async function look(task_id: string, wait_seconds: number, options: CallOptions): Promise<Task> {
    const detail = async () => await call("task.detail", { task_id, wait_seconds }, options);
    return (wait_seconds > 0 ? await http.places(detail, options.signal) : await detail()).task;
  }

  /** `woken` ends with the next change of the task. */
  function listenFor(id: string): { readonly woken: Promise<void>; readonly release: () => void } {
    const own = wakes.get(id) ?? new Set();
    let each = () => {};
    const woken = new Promise<void>((resolve) => {
      each = resolve;
    });
    wakes.set(id, own.add(each));
    return {
      woken,
      release: () => {
        own.delete(each);
        if (own.size === 0) wakes.delete(id);
      },
    };
  }

  async function settled(
    id: string,
    { signal, headers }: WaitOptions,
    left: () => number,
  ): Promise<Task | undefined> {
    for (let pollMs = firstPollMs; ; pollMs = Math.min(pollMs * 1.5, lastPollMs)) {
      const isHeld = waits <= heldMax;
      if (!isHeld) {
        following ??= begin();
        await within(left(), following.isReady, signal);
      }
      const { woken, release } = listenFor(id);
      try {
        const seconds = isHeld ? Math.max(0, Math.min(heldSeconds, Math.ceil(left() / 1000))) : 0;
        const task = await look(id, seconds, { signal, headers });
        if (task.status !== "running") return task;
        if (left() <= 0) return undefined;
        if (!isHeld) await within(Math.min(left(), following?.isLive() ? followedMs : pollMs), woken, signal);
      } finally {
        release();
      }
    }
  }

  return async (id, options = {}) => {
    const { timeoutMs = Number.POSITIVE_INFINITY } = options;
    const until = Date.now() + timeoutMs;
    waits += 1;
    try {
      const task = await settled(id, options, () => until - Date.now());
      if (task) return task;
      throw new TimeoutError(`the task still runs after ${timeoutMs} ms: ${id}`);
    } finally {
      waits -= 1;
      if (waits === 0) {
        following?.stop();
        following = undefined;
      }
    }
  };
}

/** Waits for a promise, at most this long. @throws the reason of the signal */
async function within(ms: number, woken: Promise<void>, signal: AbortSignal | undefined): Promise<void> {
  const limit = timeLimit(Math.min(Math.max(0, ms), 2 ** 31 - 1), "", signal);
  const over = new Promise<void>((resolve) =>
    limit.signal.addEventListener("abort", () => resolve(), { once: true }),
  );
  await Promise.race([woken, over]);
  limit.stop();
  signal?.throwIfAborted();
}

/** A stream of the changes of all tasks. */
interface Following {
  /** Ends when the stream is open or refused: a look after that misses no change. */
  readonly isReady: Promise<void>;
  isLive(): boolean;
  stop(): void;
}

function followTasks(http: Transport, wake: (id: string) => void, wakeAll: () => void): Following {
  const over = new AbortController();
  let isLive = false;
  let ready = () => {};
  const isReady = new Promise<void>((resolve) => {
    ready = resolve;
  });

  async function followOnce(cursor: string | undefined, onCursor: (cursor: string) => void): Promise<void> {
    for await (const { tasks = [], removedIds = [], cursor: next, resync } of taskChanges(
      http,
      cursor,
      over.signal,
    )) {
      isLive = true;
      ready();
      if (next !== undefined) onCursor(next);
      if (resync) wakeAll();
      for (const { id, status } of tasks) if (status !== "TASK_STATUS_RUNNING") wake(id);
      removedIds.forEach(wake);
    }
  }

  async function follow(): Promise<void> {
    let cursor: string | undefined;
    for (let failures = 0; ; failures += 1) {
      try {
        await followOnce(cursor, (next) => {
          [cursor, failures] = [next, 0];
        });
      } catch (error) {
        isLive = false;
        ready();
        wakeAll();
        // Where the stream is refused, tasks are polled.
        if (over.signal.aborted || !isTransient(error)) return;
      }
      await http.sleep(backoffMs(Math.min(failures, 4)), over.signal);
    }
  }

  follow().catch(() => undefined);
  return { isReady, isLive: () => isLive, stop: () => over.abort(new Error("no task is waited for")) };
}
