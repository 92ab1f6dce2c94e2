import type { Caller, OpenCall } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { type CursorBinding, decodeCursor, encodeCursor } from "../pagination/page.ts";
import type { Tx } from "../store.ts";
import { checkFilterAccess } from "./listings.ts";
import type { TaskView } from "./task.ts";
import type { TaskFilter } from "./task-rows.ts";
import type { Subscription, TaskSubscriptions } from "./task-subscriptions.ts";
import { cancelled, stopping } from "./watches.ts";

/** The changes of a list that a stream sends. */
export interface ListWatch {
  readonly filter: TaskFilter;
  /** The cursor of the last received change; empty or absent: from now on. */
  readonly cursor: string | undefined;
  /** Stays open for later changes. Otherwise it ends when all changes so far were sent. */
  readonly follow: boolean;
}

export interface ListChange {
  /** Changed tasks that the list has. */
  readonly tasks: readonly TaskView[];
  /** Changed tasks that the list does not have. */
  readonly removedIds: readonly string[];
  readonly cursor: string;
  /** Earlier changes are not sent: the list must be read again. */
  readonly resync: boolean;
}

/** Streams of changes of task lists (spec/api.md 8.61, spec/decisions.md 78). */
export interface ListWatches {
  /**
   * Sends changes as they occur, each at least once. Holds one page in memory, however slow the reader is.
   *
   * @throws Failure `invalid_argument` for a foreign cursor, those of `checkFilterAccess`,
   * `resource_exhausted`; the stream later also `unavailable` when the process drains, and the failures of a
   * new call.
   */
  watch(tx: Tx, call: OpenCall, watch: ListWatch): AsyncIterable<ListChange>;
}

/**
 * Changes are committed at most this long after the time that they record, including the difference of the
 * processes' clocks.
 */
export const marginMs = 10_000;
/** An older cursor gets a resync. */
const cursorMaxMs = 24 * 60 * 60 * 1000;
/** More changed tasks than this get a resync. */
const changedMax = 1_000;
const pageSize = 100;
/** The time in which changes are collected. */
const collectMs = 250;
/**
 * The same after too many changes: the list is read again less often. The credential is checked this often
 * too.
 */
const overloadMs = 5_000;

/** The changes that were read and not sent before. */
interface Unsent {
  readonly ids: readonly string[];
  /** More than `changedMax` tasks have changed. */
  readonly isTooMany: boolean;
}

/** @param draining aborted when the process drains. */
export function listWatches(
  subscriptions: TaskSubscriptions,
  clock: Clock,
  draining: AbortSignal,
): ListWatches {
  /** Waits until changes may be sent, and authenticates the caller again. */
  async function nextTurn(call: OpenCall, subscription: Subscription, until: number): Promise<Caller> {
    await subscription.nextNews();
    const leaving = AbortSignal.any([draining, call.gone]);
    const left = until - clock.monotonic();
    // Rejects only when the stream ends.
    if (left > 0) await clock.sleep(left, leaving).catch(() => undefined);
    if (draining.aborted) throw stopping();
    if (call.gone.aborted) throw cancelled();
    return call.reauthenticate();
  }

  async function* send(
    tx: Tx,
    call: OpenCall,
    watch: ListWatch,
    start: number | null,
    subscription: Subscription,
  ) {
    const { filter, follow } = watch;
    const cursorAt = (at: number) => encodeCursor(bind(call.caller, filter), { value: at, id: "-" });
    const resyncAt = (at: number): ListChange => ({
      tasks: [],
      removedIds: [],
      cursor: cursorAt(at),
      resync: true,
    });
    const readUnsent = unsentReader(tx, filter);
    let { caller } = call;
    let since = start ?? clock.now();
    let quietUntil = 0;
    try {
      if (start === null) {
        // Its tasks are in the list that the client reads now.
        await readUnsent(caller, since);
        yield resyncAt(since);
        quietUntil = clock.monotonic() + collectMs;
      }
      for (; ; caller = await nextTurn(call, subscription, quietUntil)) {
        const readAt = clock.now();
        const { ids, isTooMany } = await readUnsent(caller, since);
        if (isTooMany) yield resyncAt(readAt);
        for (let first = 0; first < ids.length && !isTooMany; first += pageSize) {
          if (first > 0) caller = await call.reauthenticate();
          const page = ids.slice(first, first + pageSize);
          const tasks = await tx.tasks.listOf(caller, filter, page);
          const listed = new Set(tasks.map(({ id }) => id));
          const isLast = first + pageSize >= ids.length;
          // Until the last page, the cursor repeats all of them.
          const cursor = cursorAt(isLast ? readAt : since);
          yield { tasks, removedIds: page.filter((id) => !listed.has(id)), cursor, resync: false };
        }
        if (isTooMany) quietUntil = clock.monotonic() + overloadMs;
        // News of private tasks of others wake the view of a team too.
        else if (ids.length > 0 || filter.view === "team") quietUntil = clock.monotonic() + collectMs;
        since = Math.max(since, readAt);
        if (!follow) return;
      }
    } finally {
      subscription.close();
    }
  }

  return {
    watch(tx, call, watch) {
      const { filter, cursor } = watch;
      if (draining.aborted) throw stopping();
      checkFilterAccess(call.caller, filter);
      const at = cursor ? decodeCursor(bind(call.caller, filter), cursor).value : null;
      const now = clock.now();
      // Anyone can make a cursor, so it may have any number.
      const isRecent = at !== null && Number.isSafeInteger(at) && at >= now - cursorMaxMs;
      return send(
        tx,
        call,
        watch,
        isRecent ? Math.min(at, now) : null,
        subscriptions.subscribeToList(call, filter),
      );
    },
  };
}

/**
 * Reads changes a little before a time again, because they are not committed in the order of their times, and
 * omits the versions that it has returned.
 */
function unsentReader(tx: Tx, { view }: TaskFilter) {
  let known = new Map<string, string>();
  return async (caller: Caller, since: number): Promise<Unsent> => {
    const range = [since - marginMs, changedMax + 1] as const;
    const changed = await (view === "team"
      ? tx.tasks.listChangedInTeam(caller.spaceId, ...range)
      : tx.tasks.listChanged(caller, ...range));
    const ids = changed.filter(({ id, version }) => known.get(id) !== version).map(({ id }) => id);
    // Older changes are not read again.
    known = new Map(changed.map(({ id, version }) => [id, version]));
    return { ids, isTooMany: changed.length > changedMax };
  };
}

const bind = ({ accountId, spaceId }: Caller, filter: TaskFilter): CursorBinding => ({
  accountId,
  spaceId,
  operation: "task.v2.TaskService/WatchTasks",
  filter,
});
