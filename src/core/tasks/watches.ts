import { batchReads } from "../../async/batch.ts";
import { pacer } from "../../async/limit.ts";
import type { Caller, OpenCall } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { defined } from "../defined.ts";
import { Failure, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { EventType, TaskEvent } from "./event.ts";
import type { TextDelta } from "./live-text.ts";
import type { LiveTexts } from "./live-texts.ts";
import { readUpTo, type TaskView } from "./task.ts";
import type { Subscription, SubscriptionRules, TaskSubscriptions } from "./task-subscriptions.ts";
import type { TextReader } from "./text-reader.ts";

/** When a stream counts as silent. */
export interface SilenceRule {
  readonly clock: Clock;
  /** Milliseconds. */
  readonly silenceMs: number;
}

/**
 * Yields items as they arrive, and `keepAlive()` whenever none arrived for `silenceMs`. Reads no item ahead
 * of the reader. The source must end when its call ends: a reader that leaves waits for that.
 */
export async function* withKeepAlives<T>(
  items: AsyncIterable<T>,
  keepAlive: () => T,
  silence: SilenceRule,
): AsyncGenerator<T> {
  const iterator = items[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = iterator.next();
      const arrival = trackSettling(next);
      while (!(await arrival.within(silence))) yield keepAlive();
      const found = await next;
      if (found.done) return;
      yield found.value;
    }
  } finally {
    await iterator.return?.();
  }
}

/** Reports whether a promise settles in time. It can be called repeatedly without adding handlers. */
function trackSettling(promise: Promise<unknown>) {
  let hasSettled = false;
  let wake = (): void => undefined;
  const settle = (): void => {
    hasSettled = true;
    wake();
  };
  promise.then(settle, settle);
  return {
    async within({ clock, silenceMs }: SilenceRule): Promise<boolean> {
      const settled = new AbortController();
      wake = () => settled.abort();
      // The sleep rejects when it is aborted.
      if (!hasSettled) await clock.sleep(silenceMs, settled.signal).catch(() => undefined);
      return hasSettled;
    },
  };
}

/** A read that is repeated until its result is enough. */
export interface HeldRead<T> {
  /** The most seconds, 0 to 60; the limit `holdSeconds` applies too. */
  readonly seconds: number;
  /** One read, with the caller's current rights. */
  readonly read: (caller: Caller) => Promise<T>;
  /** Whether the result has what the caller waits for. */
  readonly isEnough: (found: T) => boolean;
}

/** The events of a task that a stream sends. */
export interface Watch {
  readonly taskId: string;
  readonly afterSeq: number;
  /** Ends once the task does not run and all events were sent. */
  readonly untilSettled: boolean;
}

/** A watch that sends more than events. */
export interface LiveWatch extends Watch {
  /** The texts of messages while agents write them (spec/decisions.md 89). */
  readonly deltas: boolean;
  /** How far the agent has read the messages: first, and when that changes. */
  readonly reads: boolean;
}

/** The agent has read the messages up to this event. */
export interface MessageRead {
  readonly readSeq: number;
}

type WatchedTask = Pick<TaskView, "id" | "status" | "lastSeq"> &
  Partial<Pick<TaskView, "readSeq" | "consumedSeq">>;

export interface WatchSource {
  /** The task that this caller may watch under an id; null for any other. */
  readonly find: (tx: Tx, caller: Caller, id: string) => Promise<WatchedTask | null>;
  /** Only events of these types; absent: all. */
  readonly types?: readonly EventType[];
}

const ownTasks: WatchSource = { find: (tx, caller, id) => tx.tasks.find(caller, id) };

export interface WatchRules extends Pick<SubscriptionRules, "draining"> {
  /** The most seconds that a call is held, so that proxies do not time out first. */
  readonly holdSeconds: number;
  /** By default the tasks of the caller. */
  readonly source?: WatchSource;
  /** Absent: texts are not shown while they are written. */
  readonly texts?: Pick<LiveTexts, "reader" | "replace">;
}

/** Calls that stay open until there is news of a task (spec/decisions.md 17, 17a). */
export interface Watches {
  /**
   * Takes a slot for the watch that this call opens later: before a change that has no use without it.
   *
   * @throws Failure `resource_exhausted` with too many calls held, `unavailable` when the process drains.
   */
  reserve(call: OpenCall): void;
  /**
   * Repeats a read until its result is enough, the time is over, or the process drains.
   *
   * @returns the last result.
   * @throws Failure `resource_exhausted` with too many calls held; the failures of the read, and those of a
   * new call.
   */
  hold<T extends { task: TaskView }>(call: OpenCall, look: HeldRead<T>): Promise<T>;
  /**
   * The events of a task as they occur, each once, without a gap; null when the task
   * is settled, all events were sent, and `untilSettled` is set. Holds one page
   * in memory, however slow the reader is.
   *
   * @throws Failure `not_found` or `resource_exhausted`; the stream later also `unavailable` when
   * the process drains, and the failures of a new call.
   */
  watch(tx: Tx, call: OpenCall, watch: Watch): Promise<AsyncIterable<TaskEvent> | null>;
  /** The same, with what else it asks for. */
  watchLive(
    tx: Tx,
    call: OpenCall,
    watch: LiveWatch,
  ): Promise<AsyncIterable<TaskEvent | MessageRead | TextDelta> | null>;
}

/** A task and its first unsent events, read consistently. */
interface Unsent {
  readonly task: WatchedTask;
  readonly page: readonly TaskEvent[];
  /** The number up to which the page is complete. */
  readonly endSeq: number;
}

/** A reader whose deltas the stream has; `never` in a stream of events only. */
type Reader<More> = Pick<TextReader, "next" | "close"> & { take(sentSeq: number): readonly More[] };

/** What a stream has in addition to events; null for what it does not have. */
interface LiveParts<More> {
  readonly reader: Reader<More> | null;
  readonly markOf: ((readSeq: number) => More) | null;
}

/** Before an event is sent, credential and visibility were checked at most 5 s ago. */
const recheckMs = 5_000;
/** Watchers that send in one turn of the event loop. */
const sendersMax = 16;
/** Events per read. */
const pageSize = 100;
/** Events that a read of some types examines. */
const examinedMax = 5_000;

/** The end of streams of a process that drains. */
export const stopping = (): Failure =>
  new Failure("unavailable", "the server is stopping: call again", { retryAfter: 1 });
export const cancelled = (): Failure => new Failure("cancelled", "the caller is gone");

export function watches(
  subscriptions: TaskSubscriptions,
  clock: Clock,
  { draining, holdSeconds, source = ownTasks, texts }: WatchRules,
): Watches {
  const tasks = batchReads<WatchedTask | null>();
  const pages = batchReads<readonly TaskEvent[]>();
  const sharedReads = batchReads<Unsent>();
  const takeTurn = pacer(sendersMax);

  async function find(tx: Tx, caller: Caller, id: string): Promise<WatchedTask> {
    const { accountId, spaceId, clientId = null, within } = caller;
    const limit = within === undefined ? null : JSON.stringify(within.projectIds);
    // The id may be any text, so it comes last in the key.
    const task = await tasks(`${accountId} ${spaceId} ${clientId} ${limit} ${id}`, () =>
      source.find(tx, caller, id),
    );
    if (!task) throw notFound("task");
    return task;
  }

  async function readUnsent(tx: Tx, task: WatchedTask, afterSeq: number): Promise<Unsent> {
    const { id, lastSeq } = task;
    if (afterSeq >= lastSeq) return { task, page: [], endSeq: afterSeq };
    const { types } = source;
    const end = types === undefined ? lastSeq : Math.min(lastSeq, afterSeq + examinedMax);
    const some = { limit: pageSize, verbose: true, ...defined({ types }) };
    const window = { afterSeq, beforeSeq: end + 1, order: "asc", ...some } as const;
    const page = await pages(`${id} ${afterSeq} ${lastSeq}`, () => tx.events.list(id, window));
    return { task, page, endSeq: page.length < pageSize ? end : (page.at(-1)?.seq ?? end) };
  }

  /** Shares one read among watchers with the same credential and the same position. */
  function readShared(tx: Tx, call: OpenCall, id: string, sentSeq: number): Promise<Unsent> {
    if (draining.aborted) throw stopping();
    if (call.gone.aborted) throw cancelled();
    return sharedReads(`${sentSeq} ${id} ${call.accessKey}`, async () =>
      readUnsent(tx, await find(tx, await call.reauthenticate(), id), sentSeq),
    );
  }

  async function* send<More extends TextDelta | MessageRead>(
    tx: Tx,
    call: OpenCall,
    first: WatchedTask,
    { watch, reader, markOf }: { watch: Watch } & LiveParts<More>,
    subscription: Subscription,
  ): AsyncGenerator<TaskEvent | More> {
    const { id } = first;
    let sentSeq = watch.afterSeq;
    let sentRead = -1;
    let checkedAt = clock.monotonic();
    async function checkRegularly(): Promise<void> {
      if (!draining.aborted && clock.monotonic() - checkedAt < recheckMs) return;
      await readShared(tx, call, id, sentSeq);
      checkedAt = clock.monotonic();
    }
    async function* textsUntil(news: Promise<null>, { take, next }: Reader<More>): AsyncGenerator<More> {
      do {
        for (const delta of take(sentSeq)) {
          await checkRegularly();
          yield delta;
        }
      } while ((await Promise.race([news, next().then(() => true)])) !== null);
    }
    try {
      for (
        let unsent = await readUnsent(tx, first, sentSeq);
        ;
        unsent = await readShared(tx, call, id, sentSeq)
      ) {
        checkedAt = clock.monotonic();
        const { task, endSeq } = unsent;
        const left = unsent.page.toReversed();
        // Keeps no event in memory while the watch waits.
        unsent = { ...unsent, page: [] };
        if (left.length > 0) await takeTurn();
        for (let event = left.pop(); event; event = left.pop()) {
          await checkRegularly();
          if (reader) texts?.replace(event);
          yield event;
          sentSeq = event.seq;
        }
        const hasGap = sentSeq < endSeq;
        sentSeq = endSeq;
        const readSeq = readIn(task);
        if (readSeq > sentRead && markOf) yield markOf(readSeq);
        sentRead = readSeq;
        // Events of other types are missing, or all were erased after the read of their task: the next read
        // reports that.
        if (hasGap) continue;
        if (watch.untilSettled && isSent(task, sentSeq)) return;
        if (sentSeq < task.lastSeq) continue;
        const news = subscription.nextNews().then(() => null);
        if (reader) yield* textsUntil(news, reader);
        await news;
      }
    } finally {
      reader?.close();
      subscription.close();
    }
  }

  async function open<More extends TextDelta | MessageRead>(
    tx: Tx,
    call: OpenCall,
    watch: Watch,
    partsOf: (id: string) => LiveParts<More>,
  ): Promise<AsyncIterable<TaskEvent | More> | null> {
    if (draining.aborted) throw stopping();
    const pending = subscriptions.prepare();
    try {
      const task = await find(tx, call.caller, watch.taskId);
      if (watch.untilSettled && isSent(task, watch.afterSeq)) return null;
      const subscription = pending.subscribe(call, task);
      const parts = partsOf(task.id);
      // Also when the stream is never read.
      call.gone.addEventListener("abort", () => parts.reader?.close(), { once: true });
      return send(tx, call, task, { watch, ...parts }, subscription);
    } finally {
      pending.cancel();
    }
  }

  return {
    reserve(call) {
      if (draining.aborted) throw stopping();
      subscriptions.reserve(call);
    },

    async hold(call, { seconds, read, isEnough }) {
      if (seconds === 0) return read(call.caller);
      const until = clock.monotonic() + Math.min(seconds, holdSeconds) * 1000;
      const pending = subscriptions.prepare();
      let subscription: Subscription | undefined;
      try {
        let found = await read(call.caller);
        if (isEnough(found) || draining.aborted) return found;
        subscription = pending.subscribe(call, found.task, until);
        while (!isEnough(found) && !draining.aborted && clock.monotonic() < until) {
          await subscription.nextNews();
          if (call.gone.aborted && !draining.aborted) throw cancelled();
          found = await read(await call.reauthenticate());
        }
        return found;
      } finally {
        pending.cancel();
        subscription?.close();
      }
    },

    watch: (tx, call, watch) => open<never>(tx, call, watch, () => ({ reader: null, markOf: null })),
    watchLive: (tx, call, { deltas, reads, ...watch }) =>
      open<TextDelta | MessageRead>(tx, call, watch, (id) => ({
        reader: (deltas && texts?.reader(id)) || null,
        markOf: reads ? (readSeq) => ({ readSeq }) : null,
      })),
  };
}

const readIn = ({ readSeq = 0, consumedSeq = 0 }: WatchedTask): number => readUpTo({ readSeq, consumedSeq });

/** The task does not run, and all of its events were sent. */
const isSent = ({ status, lastSeq }: WatchedTask, sentSeq: number): boolean =>
  status !== "running" && sentSeq >= lastSeq;
