import { inTurn, repeat } from "../core/repeat.ts";
import type { Tx } from "../core/store.ts";
import type { Claimable, QueueFilter } from "../core/tasks/task.ts";
import { claimTasks, giveBack } from "./claims.ts";
import { beatMs, type Lease } from "./lease.ts";
import { openRoster } from "./roster.ts";
import type { RunParts } from "./run.ts";

/** The work of this process. */
export interface Runs {
  /** Looks for tasks to run: after a wake-up, and by itself every second. Resolves when what there is room for is claimed. */
  wake(): Promise<void>;
  /** How many run here now. */
  size(): number;
  /** Gives every run back, so that another process goes on with it, and waits until the agents have cleaned up. */
  drain(): Promise<void>;
}

const sweepMs = 1_000;
/** How often the process asks itself whether it could beat in time: that needs no database. */
const watchMs = 1_000;
/** Tasks claimed in one transaction. */
const batchMax = 32;

/** What the work of a process needs. */
export interface RunsParts extends RunParts {
  readonly lease: Lease;
  readonly concurrency: number;
  /** Profiles whose tasks are left to remote workers. */
  readonly otherThan?: readonly string[];
}

/**
 * Claims and runs tasks, at most `concurrency` at once. Who runs a task is said by
 * its row alone (node and fence); a wake-up only makes this look sooner. Whatever
 * fails here is tried again by the next sweep.
 */
export function startRuns(parts: RunsParts): Runs {
  const { store, clock, log, lease, concurrency, otherThan = [] } = parts;
  const filter = (): QueueFilter => ({ otherThan, nodeId: lease.nodeId() });
  const stopping = new AbortController();
  /** Claims go one after the other, so that the room for them is counted once. */
  const exclusive = inTurn();
  /** Something may wait for the end of a run: for its room, or for another run of the same task. */
  let waiting = false;
  const failed = (text: string) => (cause: unknown) => log("error", text, { cause });
  const roster = openRoster(parts, () => {
    if (waiting) void wake().catch(failed("claiming failed"));
  });
  const room = (): number => Math.max(0, Math.min(batchMax, concurrency - roster.size()));

  /** A change that is a beat too. What cannot be ours any more is given up: before it for want of beats, after it for want of a row. */
  async function alive<T>(work: (tx: Tx, nodeId: string) => Promise<T>): Promise<T | null> {
    giveUpLate();
    const done = await lease.alive(work);
    if (done === null) roster.abortAll("peers took this process for dead");
    return done;
  }

  function giveUpLate(): void {
    if (lease.lapsed()) roster.abortAll("this process could not beat in time");
  }

  /** Claims and starts as many of these as there is room for; answers how many. */
  async function claim(candidates: readonly Claimable[]): Promise<number> {
    let rest = candidates.filter(({ id }) => !roster.has(id));
    let count = 0;
    while (rest.length > 0 && room() > 0 && !stopping.signal.aborted) {
      const batch = rest.slice(0, room());
      rest = rest.slice(batch.length);
      const claimed = (await alive((tx, nodeId) => claimTasks(tx, batch, nodeId, clock.now()))) ?? [];
      // A drain that has begun meanwhile gives them back.
      if (!stopping.signal.aborted) claimed.forEach(roster.start);
      count += claimed.length;
    }
    return count;
  }

  /** Takes from the queue, the least-served accounts first. */
  async function fill(): Promise<void> {
    waiting = false;
    while (room() > 0 && !stopping.signal.aborted) {
      const candidates = await store.tasks.unowned(room() + roster.leaving(), filter());
      waiting ||= candidates.some(({ id }) => roster.has(id));
      if ((await claim(candidates)) === 0) return;
    }
    waiting = true;
  }

  /** Finds running tasks without a living owner: this process has let go of the run, or a peer is dead. */
  async function sweep(): Promise<void> {
    const mine = await store.tasks.owned([lease.nodeId()]);
    const fences = new Map(mine.map(({ id, fence }) => [id, fence]));
    roster.keep((taskId, fence) => fences.get(taskId) === fence);
    await claim(mine);
    const dead = await lease.deadPeers();
    // Before whoever goes on with a run asks for its browser.
    for (const nodeId of dead) await store.change((tx) => tx.browsers.forgetNode(nodeId));
    const orphans = await store.tasks.owned(dead);
    await claim(orphans);
    for (const nodeId of dead) if (!orphans.some((task) => task.nodeId === nodeId)) await lease.forget(nodeId);
    await fill();
  }

  async function giveAllBack(): Promise<void> {
    for (let mine = await store.tasks.owned([lease.nodeId()]); mine.length > 0; mine = mine.slice(batchMax)) {
      const batch = mine.slice(0, batchMax);
      await store.change((tx) => giveBack(tx, batch, clock.now()));
    }
  }

  const wake = once(fill);
  const look = once(sweep);

  /** In its turn; one that has not begun yet will see what another would. */
  function once(work: () => Promise<void>): () => Promise<void> {
    let coming: Promise<void> | undefined;
    return () => {
      coming ??= exclusive(() => {
        coming = undefined;
        return work();
      });
      return coming;
    };
  }

  const forgetNews = store.feed.onTask(({ taskId, fence, status }) => {
    const ours = roster.fence(taskId);
    // Fences only grow: what comes late and is older says nothing of this run.
    if (ours !== undefined && (fence > ours || (fence === ours && status !== "running"))) roster.abort(taskId);
  });
  const forgetLosses = store.feed.onLost(() => void look().catch(failed("looking again failed")));

  const every = (ms: number, work: () => Promise<void>) => repeat(clock, ms, stopping.signal, log, work);
  const loops = [
    every(sweepMs, async function sweepTasks() {
      await look();
    }),
    every(beatMs, async function beat() {
      await alive(async () => true);
    }),
    every(watchMs, async function watchBeats() {
      giveUpLate();
    }),
  ];

  return {
    wake,
    size: roster.size,
    async drain() {
      stopping.abort();
      forgetNews();
      forgetLosses();
      roster.abortAll("this process stops");
      // Before the agents have cleaned up: the fence is raised, and another process need not wait for that.
      await exclusive(giveAllBack).catch(failed("giving runs back failed"));
      await Promise.all([roster.ended(), ...loops]);
      await lease.forget(lease.nodeId()).catch(failed("leaving the peers failed"));
    },
  };
}
