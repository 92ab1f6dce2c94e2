import type { OpenCall, Scope } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure } from "../failure.ts";
import type { Feed, TaskNews } from "../store.ts";
import type { TaskFilter } from "./task-rows.ts";

export interface TaskSubscriptions {
  /**
   * Records news of all tasks from now on, for a call that reads a task before it enters: it misses no news
   * in between.
   */
  prepare(): PendingSubscription;
  /**
   * Subscribes to news of all tasks of the caller's account in its space, or of the space, with one of the
   * holder's slots.
   *
   * @throws Failure `resource_exhausted` when all of the holder's slots are taken.
   */
  subscribeToList(call: OpenCall, filter: Pick<TaskFilter, "view">): Subscription;
  /**
   * Reserves a slot now, so that a change is not made when no watch is possible. The slot is released when
   * the call ends without a subscription.
   *
   * @throws Failure `resource_exhausted` when all of the holder's slots are taken.
   */
  reserve(call: OpenCall): void;
  /** The number of slots that are taken. */
  size(): number;
}

/**
 * A subscription that is not bound to a task yet. It ends with one of these calls; the other does nothing
 * after that.
 */
export interface PendingSubscription {
  /**
   * Takes one of the holder's slots until the subscription is left or the caller is gone.
   *
   * @param seen the task as the call has read it: news that it shows already does not wake the call.
   * @param until monotonic milliseconds at which the subscription wakes in any case.
   * @throws Failure `resource_exhausted` when all of the holder's slots are taken.
   */
  subscribe(call: OpenCall, seen: SeenTask, until?: number): Subscription;
  cancel(): void;
}

/** The part of a task that subscribers compare: its events, whether it runs, and the messages that were read. */
export type SeenTask = { readonly id: TaskNews["taskId"] } & Pick<TaskNews, "lastSeq" | "status" | "readSeq">;

export interface Subscription {
  /**
   * Resolves when there may be news: at once for news since the last call of `nextNews`, or, the first time,
   * since the subscription was prepared. Also resolves every `pollMs`, when the caller is gone, and when the
   * process drains.
   */
  nextNews(): Promise<void>;
  /** Releases the slot; a second call does nothing. */
  close(): void;
}

export interface SubscriptionRules {
  /** Slots of one holder in this process (spec/decisions.md 17a). */
  readonly limit: number;
  /**
   * Every subscription wakes at least this often, in milliseconds: news from other processes may not arrive
   * here.
   */
  readonly pollMs: number;
  /** Whose slot a call takes; by default that of its account. */
  readonly holderOf?: (call: OpenCall) => string;
  /** Aborted when the process drains. */
  readonly draining: AbortSignal;
}

/** The subscribers of one holder: they wake together, so that they can share their reads. */
interface HolderSubscribers {
  readonly wakers: Set<Waker>;
  /** Aborted when the last one leaves. */
  readonly empty: AbortController;
}

const accountOf = ({ caller }: OpenCall): string => caller.accountId;

/** Listens once to the store's news for all subscriptions, and wakes those of the task. */
export function taskSubscriptions(
  feed: Feed,
  clock: Clock,
  { limit, pollMs, draining, holderOf = accountOf }: SubscriptionRules,
): TaskSubscriptions {
  const byTask = new Map<string, Set<Waker>>();
  /** Subscribers to the tasks of an account in a space, or of a space. */
  const byOwner = new Map<string, Set<Waker>>();
  const byHolder = new Map<string, HolderSubscribers>();
  const pending = new Set<RecordedNews>();
  /** The functions that release reserved slots, by the signal that ends their call. */
  const reserved = new WeakMap<AbortSignal, () => void>();
  function notify(news: TaskNews): void {
    for (const recorded of pending) recorded.news.push(news);
    for (const { notify } of byTask.get(news.taskId) ?? []) notify(news);
    const { spaceId, accountId } = news;
    // An older process does not say whose task it is.
    if (spaceId === undefined || accountId === undefined)
      for (const wakers of byOwner.values()) wakeAll(wakers);
    else for (const key of [ownerKey({ spaceId, accountId }), spaceId]) wakeAll(byOwner.get(key) ?? []);
  }
  function wakeEveryTask(): void {
    for (const recorded of pending) recorded.lost = true;
    for (const wakers of [...byTask.values(), ...byOwner.values()]) wakeAll(wakers);
  }
  const stopListening = [feed.onTask(notify), feed.onLost(wakeEveryTask)];
  draining.addEventListener("abort", () => {
    for (const each of stopListening) each();
    wakeEveryTask();
  });

  async function wakeRegularly({ wakers, empty }: HolderSubscribers): Promise<void> {
    for (;;) {
      await clock.sleep(pollMs, empty.signal);
      wakeAll(wakers);
    }
  }

  /** Sleeps in a loop, because a timer may fire slightly early. */
  async function wakeAt(until: number, { wake }: Waker, left: AbortSignal): Promise<void> {
    while (clock.monotonic() < until) await clock.sleep(until - clock.monotonic(), left);
    wake();
  }

  function addHolder(holder: string): HolderSubscribers {
    const subscribers = { wakers: new Set<Waker>(), empty: new AbortController() };
    byHolder.set(holder, subscribers);
    // Rejects only when the last subscriber has left.
    wakeRegularly(subscribers).catch(() => undefined);
    return subscribers;
  }

  /** @returns a function that releases the slot. */
  function takeSlot(holder: string, waker: Waker): () => void {
    const { wakers, empty } = byHolder.get(holder) ?? addHolder(holder);
    if (wakers.size >= limit)
      throw new Failure(
        "resource_exhausted",
        `${limit} held calls and watches of this account are open already`,
        { retryAfter: 1 },
      );
    wakers.add(waker);
    return () => {
      wakers.delete(waker);
      if (wakers.size > 0) return;
      byHolder.delete(holder);
      empty.abort();
    };
  }

  /** @returns a function that removes the waker again. */
  function addTo(map: Map<string, Set<Waker>>, key: string, waker: Waker): () => void {
    const wakers = map.get(key) ?? new Set();
    map.set(key, wakers.add(waker));
    return () => {
      wakers.delete(waker);
      if (wakers.size === 0) map.delete(key);
    };
  }

  /** Takes a slot and enters a waker; leaves both when the caller is gone. */
  function enter(
    call: OpenCall,
    waker: Waker,
    add: () => () => void,
  ): { leave: () => void; left: AbortSignal } {
    const { gone } = call;
    const left = new AbortController();
    // The subscription takes over the reserved slot: nothing runs between the two.
    reserved.get(gone)?.();
    const releases = [takeSlot(holderOf(call), waker), add()];
    const leave = () => {
      if (!left.signal.aborted) for (const release of releases) release();
      left.abort();
    };
    const end = () => {
      waker.wake();
      leave();
    };
    if (draining.aborted) waker.wake();
    gone.addEventListener("abort", end, { signal: left.signal });
    if (gone.aborted) end();
    return { leave, left: left.signal };
  }

  function subscribe(call: OpenCall, seen: SeenTask, recorded: RecordedNews, until?: number): Subscription {
    const waker = createWaker(seen);
    const { leave, left } = enter(call, waker, () => addTo(byTask, seen.id, waker));
    for (const news of recorded.news) if (news.taskId === seen.id) waker.notify(news);
    if (recorded.lost) waker.wake();
    // Rejects only when the subscription was left.
    if (until !== undefined) wakeAt(until, waker, left).catch(() => undefined);
    return { nextNews: waker.next, close: leave };
  }

  function subscribeToList(call: OpenCall, { view }: Pick<TaskFilter, "view">): Subscription {
    const waker = createWaker({ lastSeq: 0, status: "" });
    const key = view === "team" ? call.caller.spaceId : ownerKey(call.caller);
    const { leave } = enter(call, waker, () => addTo(byOwner, key, waker));
    return { nextNews: waker.next, close: leave };
  }

  function reserve(call: OpenCall): void {
    const { gone } = call;
    const release = takeSlot(holderOf(call), createWaker({ lastSeq: 0, status: "" }));
    const end = () => {
      gone.removeEventListener("abort", end);
      reserved.delete(gone);
      release();
    };
    reserved.set(gone, end);
    gone.addEventListener("abort", end);
    if (gone.aborted) end();
  }

  return {
    reserve,
    subscribeToList,
    size: () => [...byHolder.values()].reduce((sum, { wakers }) => sum + wakers.size, 0),
    prepare() {
      const recorded: RecordedNews = { news: [], lost: false };
      pending.add(recorded);
      const turnBack = () => void pending.delete(recorded);
      return {
        cancel: turnBack,
        subscribe(call, seen, until) {
          turnBack();
          return subscribe(call, seen, recorded, until);
        },
      };
    },
  };
}

const ownerKey = ({ spaceId, accountId }: Pick<Scope, "spaceId" | "accountId">): string =>
  `${spaceId} ${accountId}`;

/** The news that arrived while a subscription was pending. */
interface RecordedNews {
  readonly news: TaskNews[];
  lost: boolean;
}

interface Waker {
  wake(): void;
  /** Wakes, unless the news is known already: a claim, for example, adds no event and changes no status. */
  notify(news: Omit<SeenTask, "id">): void;
  /** Resolves at the next wake, or at once when there was one since the last call. */
  next(): Promise<void>;
}

function createWaker(seen: Omit<SeenTask, "id">): Waker {
  let known = seen;
  let isAwake = false;
  let resolveNext = (): void => undefined;
  const reset = (): void => {
    isAwake = false;
  };
  function wake(): void {
    isAwake = true;
    resolveNext();
  }
  return {
    wake,
    notify(news) {
      const { readSeq = 0 } = known;
      const isRead = (news.readSeq ?? 0) > readSeq;
      if (news.lastSeq <= known.lastSeq && news.status === known.status && !isRead) return;
      known = { readSeq, ...news };
      wake();
    },
    next() {
      const awake = isAwake ? Promise.resolve() : new Promise<void>((resolve) => (resolveNext = resolve));
      return awake.then(reset);
    },
  };
}

function wakeAll(wakers: Iterable<Waker>): void {
  for (const { wake } of wakers) wake();
}
