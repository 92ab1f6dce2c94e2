import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { OpenCall } from "../open-call.ts";
import { paced } from "../pace.ts";
import { sharedReads } from "../shared-reads.ts";
import type { Tx } from "../store.ts";
import type { TaskEvent } from "./event.ts";
import type { TaskView } from "./task.ts";
import type { RoomRules, Visit, WaitingRoom } from "./waiting-room.ts";

/** A read that is repeated until it shows enough. */
export interface Look<T> {
  /** For at most so long, 0 to 60; never for longer than `holdSeconds` of the rules. */
  readonly seconds: number;
  /** One read, for the caller as it is at that moment. */
  readonly look: (caller: Caller) => Promise<T>;
  /** Whether there is anything that the caller waits for. */
  readonly enough: (found: T) => boolean;
}

/** Which events of which task to tell. */
export interface Watch {
  readonly taskId: string;
  readonly afterSeq: number;
  /** Ends once the task does not run and everything was told. */
  readonly untilSettled: boolean;
}

/** What held calls go by. */
export interface HoldRules extends Pick<RoomRules, "draining"> {
  /** No call is held for longer, in seconds, so that proxies do not give it up before. */
  readonly holdSeconds: number;
}

/** Calls that stay open until there is news of a task (contract/decisions.md 17, 17a). */
export interface Watches {
  /**
   * What a look finds: at once when it is enough; else when it is, when the time is
   * over, or when the process drains.
   *
   * @throws Failure `exhausted` with too many calls held; what a look throws, and what a new call would get.
   */
  hold<T extends { readonly task: TaskView }>(call: OpenCall, look: Look<T>): Promise<T>;
  /**
   * The events of a task as they come, each once, without a gap; null when the task
   * is settled, nothing is left to tell, and nothing else was asked for. One page is
   * in memory, however slowly it is read.
   *
   * @throws Failure `absent` or `exhausted`; the events later also `unavailable` when
   * the process drains, and what a new call would get.
   */
  watch(tx: Tx, call: OpenCall, watch: Watch): Promise<AsyncIterable<TaskEvent> | null>;
}

/** A task, and the first events that it had when it was found: both tell of one moment. */
interface Unread {
  readonly task: TaskView;
  readonly page: readonly TaskEvent[];
}

/** Credential and visibility are never older when something is told. */
const recheckMs = 5_000;
/** So many watchers are told in one turn of the event loop. */
const toldAtOnce = 16;
/** Events that are read at a time. */
const pageSize = 100;

const stopping = (): Failure => new Failure("unavailable", "the server is stopping: call again", { retryAfter: 1 });
const cancelled = (): Failure => new Failure("cancelled", "nobody waits for the answer any more");

export function watches(room: WaitingRoom, clock: Clock, { draining, holdSeconds }: HoldRules): Watches {
  const tasks = sharedReads<TaskView | null>();
  const pages = sharedReads<readonly TaskEvent[]>();
  const looks = sharedReads<Unread>();
  const pace = paced(toldAtOnce);

  async function find(tx: Tx, caller: Caller, id: string): Promise<TaskView> {
    const { accountId, spaceId, clientId = null } = caller;
    // The id may be anything: it stands last.
    const task = await tasks(`${accountId} ${spaceId} ${clientId} ${id}`, () => tx.tasks.find(caller, id));
    if (!task) throw absent("task");
    return task;
  }

  async function unread(tx: Tx, task: TaskView, afterSeq: number): Promise<Unread> {
    const { id, lastSeq } = task;
    if (afterSeq >= lastSeq) return { task, page: [] };
    const window = { afterSeq, beforeSeq: lastSeq + 1, order: "asc", limit: pageSize, verbose: true } as const;
    return { task, page: await pages(`${id} ${afterSeq} ${lastSeq}`, () => tx.events.list(id, window)) };
  }

  /** One look for all whom the same credential let in, and who were told as much. */
  function look(tx: Tx, call: OpenCall, id: string, told: number): Promise<Unread> {
    if (draining.aborted) throw stopping();
    if (call.gone.aborted) throw cancelled();
    return looks(`${told} ${id} ${call.who}`, async () => unread(tx, await find(tx, await call.again(), id), told));
  }

  async function* tell(tx: Tx, call: OpenCall, first: TaskView, watch: Watch, visit: Visit): AsyncGenerator<TaskEvent> {
    const { id } = first;
    let told = watch.afterSeq;
    let checkedAt = clock.monotonic();
    try {
      for (let { task, page } = await unread(tx, first, told); ; { task, page } = await look(tx, call, id, told)) {
        checkedAt = clock.monotonic();
        const left = page.toReversed();
        // None is kept while there is nothing to tell.
        page = [];
        const erased = left.length === 0;
        if (!erased) await pace();
        for (let event = left.pop(); event; event = left.pop()) {
          if (draining.aborted || clock.monotonic() - checkedAt >= recheckMs) {
            await look(tx, call, id, told);
            checkedAt = clock.monotonic();
          }
          yield event;
          told = event.seq;
        }
        if (watch.untilSettled && isTold(task, told)) return;
        // Events that were erased since their task was found do not come: the next look says so.
        if (erased || told >= task.lastSeq) await visit.wake();
      }
    } finally {
      visit.leave();
    }
  }

  return {
    async hold(call, { seconds, look, enough }) {
      if (seconds === 0) return look(call.caller);
      const until = clock.monotonic() + Math.min(seconds, holdSeconds) * 1000;
      const approach = room.approach();
      let visit: Visit | undefined;
      try {
        let found = await look(call.caller);
        if (enough(found) || draining.aborted) return found;
        visit = approach.enter(call, found.task, until);
        while (!enough(found) && !draining.aborted && clock.monotonic() < until) {
          await visit.wake();
          if (call.gone.aborted && !draining.aborted) throw cancelled();
          found = await look(await call.again());
        }
        return found;
      } finally {
        approach.turnBack();
        visit?.leave();
      }
    },

    async watch(tx, call, watch) {
      if (draining.aborted) throw stopping();
      const approach = room.approach();
      try {
        const task = await find(tx, call.caller, watch.taskId);
        if (watch.untilSettled && isTold(task, watch.afterSeq)) return null;
        return tell(tx, call, task, watch, approach.enter(call, task));
      } finally {
        approach.turnBack();
      }
    },
  };
}

/** The task rests, and everything was told up to there. */
const isTold = ({ status, lastSeq }: TaskView, told: number): boolean => status !== "running" && told >= lastSeq;
