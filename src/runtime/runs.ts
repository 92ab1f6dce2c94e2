import { coalesce } from "../async/coalesce.ts";
import { mutex } from "../async/limit.ts";
import { poll } from "../async/poll.ts";
import { type Claim, unobserved } from "../core/observe.ts";
import type { Tx } from "../core/store.ts";
import type { DirectClaims } from "../core/tasks/direct-claims.ts";
import type { Task } from "../core/tasks/task.ts";
import type { ClaimableTask, QueueFilter, QueuePart } from "../core/tasks/task-rows.ts";
import { type ActiveRunsParts, activeRuns } from "./active-runs.ts";
import { stopped } from "./agent.ts";
import { claimNext, claimWithinLimits, releaseClaim } from "./claims.ts";
import { directRuns } from "./direct-claims.ts";
import { heartbeatMs, type Lease } from "./lease.ts";

/** Claims and runs tasks in this process. */
export interface Runs {
  /** Claims tasks that wait, as many as there is capacity for. */
  wake(): Promise<void>;
  /**
   * Does the same if a task waits; it is done every second. Where processes share the queue, looking costs
   * less than claiming.
   */
  look(): Promise<void>;
  /** The number of runs in this process. */
  size(): number;
  /** Whether it can begin another run. If not, it looks for tasks as soon as a run ends. */
  hasCapacity(): boolean;
  /**
   * Claims in the changes that begin turns. On SQLite only: they raise no heartbeat, so no other process may
   * run tasks.
   */
  readonly direct: DirectClaims;
  /**
   * Releases every run, so that another process continues it, and waits until the agents have cleaned up. A
   * run that calls a model continues until the events that depend on the call are written, for at most
   * `callsMs`.
   */
  drain(callsMs?: number): Promise<void>;
}

const sweepMs = 1_000;
/** The interval at which the process checks, without the database, that its heartbeat has not lapsed. */
const watchMs = 1_000;
/** The most tasks claimed in one transaction. */
const batchMax = 32;

export interface RunsParts extends ActiveRunsParts {
  readonly lease: Lease;
  readonly concurrency: number;
  /** Profiles whose tasks are left to remote workers. */
  readonly excludedProfiles?: readonly string[];
}

/**
 * Claims and runs tasks, at most `concurrency` at once. The task's row alone (node and fence) decides which
 * process runs it; a wake-up only makes the process look sooner. The next sweep retries everything that fails
 * here.
 */
export function startRuns(parts: RunsParts): Runs {
  const {
    store,
    clock,
    log,
    publishTask,
    lease,
    concurrency,
    excludedProfiles = [],
    observe = unobserved,
  } = parts;
  const filter = () => ({ excludedProfiles, nodeId: lease.nodeId() }) satisfies QueueFilter;
  /** Other processes claim tasks of the same queue. */
  const isShared = store.broadcast !== null;
  /** Aborted when the process claims no more tasks. */
  const stopping = new AbortController();
  /** Aborted when all runs are released. */
  const over = new AbortController();
  /** Claims run sequentially, so that free capacity is counted once. */
  const exclusive = mutex();
  /**
   * True when a task may wait for the end of a run: for capacity, or because an earlier run of it has not
   * ended.
   */
  let waiting = false;
  /**
   * Tasks in run here whose end may let a task run: another one of a limited profile, or the same one, which
   * waits again.
   */
  const awaited = new Set<string>();
  /** Tasks that were not running by the latest news, while their run here has not ended. */
  const ending = new Set<string>();
  const logFailure = (text: string) => (cause: unknown) => log("error", text, { cause });
  const active = activeRuns(parts, (taskId) => {
    ending.delete(taskId);
    const isAwaited = awaited.delete(taskId);
    if (stopping.signal.aborted) void release();
    else if (isAwaited || waiting) void wake().catch(logFailure("claiming failed"));
  });
  /** The number of tasks that changes in progress claim from the queue. */
  let claiming = 0;
  const direct = directRuns({
    clock,
    publishTask,
    filter,
    hasRoom: ({ id, agentProfile }) =>
      capacity() > 0 &&
      !stopping.signal.aborted &&
      !active.has(id) &&
      !lease.hasLapsed() &&
      !excludedProfiles.includes(agentProfile) &&
      parts.agentFor(agentProfile) !== null,
    begin(task, events) {
      observe.claimed("claimed", 1);
      if (stopping.signal.aborted) void release();
      else active.start(task, events);
    },
    onFree: wakeIfWaiting,
  });
  const capacity = (): number =>
    Math.max(0, Math.min(batchMax, concurrency - active.size() - direct.size() - claiming));

  const by = (nodeId: string) => ({ nodeId, now: clock.now(), publishTask });

  function wakeIfWaiting(): void {
    if (waiting && !stopping.signal.aborted) void wake().catch(logFailure("claiming failed"));
  }

  /**
   * Claims in this process's name. Lost runs are aborted: before it when the heartbeat has lapsed, after it
   * when the row is gone.
   */
  async function claimIfLive<T extends object>(
    work: (tx: Tx, nodeId: string) => Promise<T>,
  ): Promise<T | null> {
    abortIfLapsed();
    const done = await lease.changeIfLive(work);
    if (done === null) abortDead();
    return done;
  }

  async function beat(): Promise<void> {
    abortIfLapsed();
    if (!(await lease.beat())) abortDead();
  }

  const abortDead = () => abortAll("peers", "peers considered this process dead");

  function abortIfLapsed(): void {
    if (lease.hasLapsed()) abortAll("heartbeat", "this process sent no heartbeat in time");
  }

  function abortAll(reason: "peers" | "heartbeat", why: string): void {
    observe.lost(reason, active.size() - active.countAborted());
    active.abortAll(why);
  }

  /**
   * Claims and starts as many candidates as there is capacity for. Returns how many. @param kind where they
   * come from.
   */
  async function claim(candidates: readonly ClaimableTask[], kind: Claim): Promise<number> {
    let remaining = candidates.filter(({ id }) => !active.has(id) && !direct.has(id));
    let count = 0;
    while (remaining.length > 0 && capacity() > 0 && !stopping.signal.aborted) {
      const batch = remaining.slice(0, capacity());
      remaining = remaining.slice(batch.length);
      const claimed = await claimBatch(batch);
      count += claimed;
      observe.claimed(kind, claimed);
    }
    return count;
  }

  /**
   * Claims and starts tasks in one change. Their slots are taken while it is in progress. Returns how many.
   */
  async function claimBatch(batch: readonly ClaimableTask[]): Promise<number> {
    const claimed = await claimAndStart(batch.length, (tx, nodeId) =>
      claimWithinLimits(tx, batch, by(nodeId)),
    );
    for (const { id, isLimited } of batch) if (isLimited && active.has(id)) awaited.add(id);
    return claimed?.length ?? 0;
  }

  /** Claims at most `max` tasks and starts them. */
  async function claimAndStart<T extends readonly Task[] | null>(
    max: number,
    claimThem: (tx: Tx, nodeId: string) => Promise<T>,
  ) {
    claiming += max;
    try {
      const done = await claimIfLive(async (tx, nodeId) => ({ claimed: await claimThem(tx, nodeId) }));
      // A drain that began in the meantime releases them.
      if (!stopping.signal.aborted) for (const task of done?.claimed ?? []) active.start(task);
      return done === null ? [] : done.claimed;
    } finally {
      claiming -= max;
    }
  }

  /** Claims tasks from the queue, the least-served accounts first. */
  async function fill(): Promise<void> {
    waiting = false;
    while (capacity() > 0 && !stopping.signal.aborted) {
      const max = capacity();
      const claimed = isShared
        ? await claimAndStart(max, (tx, nodeId) => claimNext(tx, partOf(max), by(nodeId)))
        : null;
      if (claimed === null) return fillFromList();
      observe.claimed("claimed", claimed.length);
      // No task is left, or other processes claim the others at this moment. A task that began to wait while
      // this claim held the slots was not looked for: nothing else would wake this process for it.
      if (claimed.length < max && !waiting) return;
      waiting = false;
    }
    waiting = true;
  }

  const partOf = (max: number): QueuePart => ({ max, filter: filter(), except: active.ids() });

  /** The same where the queue is read before a claim. */
  async function fillFromList(): Promise<void> {
    while (capacity() > 0 && !stopping.signal.aborted) {
      const candidates = await store.tasks.listUnowned(capacity() + active.countAborted(), filter());
      waiting ||= candidates.some(({ id }) => active.has(id));
      const count = await claim(candidates, "claimed");
      // Changes of callers may have taken the slots in the meantime.
      waiting ||= capacity() === 0;
      if (count === 0) return;
    }
    waiting = true;
  }

  async function fillIfAny(): Promise<void> {
    if (!isShared || (await store.tasks.countUnowned(1, filter())) > 0) await fill();
  }

  /** Finds running tasks without a live owner: this process has ended the run, or a peer is dead. */
  async function sweep(): Promise<void> {
    // Runs that begin during the read may be missing in it.
    const begun = active.fences();
    const ownTasks = await store.tasks.listOwned([lease.nodeId()]);
    const fences = new Map(ownTasks.map(({ id, fence }) => [id, fence]));
    active.abortUnlessHeld(begun, (taskId, fence) => fences.get(taskId) === fence);
    await claim(ownTasks, "resumed");
    const dead = await lease.findDeadPeers();
    // This is done before a process that continues a run requests the run's browser.
    for (const nodeId of dead) await store.change((tx) => tx.browsers.deleteOfNode(nodeId));
    const orphans = await store.tasks.listOwned(dead);
    const taken = await claim(orphans, "taken_over");
    if (taken > 0) log("warn", "runs of a lost process were taken over", { runs: taken });
    for (const nodeId of dead)
      if (!orphans.some((task) => task.nodeId === nodeId)) await lease.removeNode(nodeId);
    await fillIfAny();
  }

  /** Releases the tasks of this process that no longer have a run. */
  async function releaseInactive(): Promise<void> {
    const inactive = (await store.tasks.listOwned([lease.nodeId()])).filter(({ id }) => !active.isActive(id));
    for (let ownTasks = inactive; ownTasks.length > 0; ownTasks = ownTasks.slice(batchMax)) {
      const batch = ownTasks.slice(0, batchMax);
      await store.change((tx) => releaseClaim(tx, batch, clock.now()));
    }
  }

  /** Resolves when all runs have ended, or after this time. */
  async function untilEnded(ms: number): Promise<void> {
    if (ms === 0 || active.size() === active.countAborted()) return;
    const ended = new AbortController();
    const timeout = clock.sleep(ms, ended.signal).catch(() => undefined);
    await Promise.race([active.ended(), timeout]);
    ended.abort();
  }

  const releaseOnce = coalesce(releaseInactive, exclusive);
  const release = (): Promise<void> => releaseOnce().catch(logFailure("releasing runs failed"));
  const wake = coalesce(fill, exclusive);
  const look = coalesce(fillIfAny, exclusive);
  const sweepOnce = coalesce(sweep, exclusive);

  const unsubscribeTasks = store.feed.onTask(({ taskId, fence, status }) => {
    const ownFence = active.fence(taskId);
    // Fences only grow: a late notification with a lower fence is about an earlier run.
    if (ownFence === undefined || fence < ownFence) return;
    if (status !== "running") ending.add(taskId);
    else if (ending.has(taskId)) awaited.add(taskId);
    if (status !== "running") active.abort(taskId, stopped);
    else if (fence > ownFence) active.abort(taskId);
  });
  const unsubscribeLosses = store.feed.onLost(
    () => void sweepOnce().catch(logFailure("sweeping after lost notifications failed")),
  );

  const every = (ms: number, work: () => Promise<void>) => poll(clock, ms, over.signal, log, work);
  const loops = [
    every(sweepMs, async function sweepTasks() {
      await sweepOnce();
    }),
    every(heartbeatMs, async function heartbeat() {
      await beat();
    }),
    every(watchMs, async function watchHeartbeat() {
      abortIfLapsed();
    }),
  ];

  return {
    wake,
    look,
    size: active.size,
    direct,
    hasCapacity() {
      const hasRoom = capacity() > 0;
      waiting ||= !hasRoom;
      return hasRoom;
    },
    async drain(callsMs = 0) {
      stopping.abort();
      active.drain();
      await direct.settled();
      // This is done before the agents have cleaned up: the fence is raised, so another process need not wait
      // for them.
      await release();
      await untilEnded(callsMs);
      over.abort();
      unsubscribeTasks();
      unsubscribeLosses();
      active.abortAll("this process stops");
      await release();
      await Promise.all([active.ended(), ...loops]);
      await lease.removeNode(lease.nodeId()).catch(logFailure("deleting the node's row failed"));
    },
  };
}
