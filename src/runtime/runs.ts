import type { Log } from "../core/log.ts";
import type { Tx } from "../core/store.ts";
import { fail } from "../core/tasks/lifecycle.ts";
import type { Claimable, Task } from "../core/tasks/task.ts";
import { beatMs, type Lease } from "./lease.ts";
import { repeat } from "./repeat.ts";
import { type RunParts, runTask } from "./run.ts";

/** The tasks that this process runs. */
export interface Runs {
  /** Looks for tasks to run: after a wake-up, and by itself every second. */
  wake(): Promise<void>;
  /** How many run here now. */
  size(): number;
  /** Gives every run back, so that another process goes on with it. */
  drain(): Promise<void>;
}

const sweepMs = 1_000;
/** Tasks claimed in one transaction. */
const batchMax = 32;
/** Claims in a row without an event, after which a task is taken for one that cannot be run. */
const idleClaimsMax = 25;

interface Run {
  readonly fence: number;
  readonly abort: AbortController;
  readonly ended: Promise<void>;
}

/**
 * Claims and runs tasks, at most `concurrency` at once. Who runs a task is said by
 * its row alone (node and fence); a wake-up only makes this look sooner.
 */
export function startRuns(parts: RunParts & { readonly lease: Lease; readonly concurrency: number }): Runs {
  const { store, clock, log, lease, concurrency } = parts;
  const running = new Map<string, Run>();
  const stopping = new AbortController();
  const exclusive = inTurn();

  function start(task: Task): void {
    const abort = new AbortController();
    const ended = runTask(task, abort.signal, parts)
      .catch((cause: unknown) => log("error", "a run failed", { taskId: task.id, cause }))
      .then(() => {
        if (running.get(task.id)?.abort === abort) running.delete(task.id);
        if (!stopping.signal.aborted) void wake();
      });
    running.set(task.id, { fence: task.fence, abort, ended });
  }

  async function claim(candidates: readonly Claimable[]): Promise<number> {
    const room = Math.min(batchMax, concurrency - running.size);
    const batch = candidates.filter(({ id }) => !running.has(id)).slice(0, Math.max(0, room));
    if (batch.length === 0 || stopping.signal.aborted) return 0;
    const claimed = await store.change((tx) => claimAll(tx, batch, lease.nodeId(), clock.now()));
    if (stopping.signal.aborted) await giveBack(claimed);
    else claimed.forEach(start);
    return claimed.length;
  }

  async function fill(): Promise<void> {
    while (running.size < concurrency && !stopping.signal.aborted) {
      const candidates = await store.tasks.unowned(Math.min(batchMax, concurrency - running.size));
      if ((await claim(candidates)) === 0) return;
    }
  }

  /** Tasks that nobody runs although their row names somebody: this process after a crash of a run, or a dead peer. */
  async function sweep(): Promise<void> {
    const mine = await store.tasks.owned([lease.nodeId()]);
    const fences = new Map(mine.map(({ id, fence }) => [id, fence]));
    for (const [id, run] of running) if (fences.get(id) !== run.fence) run.abort.abort();
    await claim(mine);
    const dead = await lease.deadPeers();
    const orphans = dead.length === 0 ? [] : await store.tasks.owned(dead);
    await claim(orphans);
    for (const nodeId of dead) if (!orphans.some((task) => task.nodeId === nodeId)) await lease.forget(nodeId);
    await fill();
  }

  async function giveBack(tasks: readonly { readonly id: string; readonly fence: number }[]): Promise<void> {
    if (tasks.length === 0) return;
    await store.change(async (tx) => {
      for (const { id, fence } of tasks) await tx.tasks.advance(id, { now: clock.now(), when: { fence, status: "running" }, set: { nodeId: null, raiseFence: true } });
    });
  }

  const abortAll = (): void => running.forEach(({ abort }) => abort.abort());
  const forgetNews = store.feed.onTask(({ taskId, fence, status }) => {
    const run = running.get(taskId);
    if (run && (run.fence !== fence || status !== "running")) run.abort.abort();
  });

  let woken = false;
  async function wake(): Promise<void> {
    if (woken) return;
    woken = true;
    await exclusive(async () => {
      woken = false;
      await fill().catch(reportTo(log, "claiming failed"));
    });
  }

  const loops = [
    repeat(clock, sweepMs, stopping.signal, log, () => exclusive(sweep)),
    repeat(clock, beatMs, stopping.signal, log, async () => {
      if (!(await lease.beat())) abortAll();
    }),
  ];

  return {
    wake,
    size: () => running.size,
    async drain() {
      stopping.abort();
      forgetNews();
      const given = [...running].map(([id, { fence }]) => ({ id, fence }));
      abortAll();
      await Promise.all([...[...running.values()].map(({ ended }) => ended), ...loops]);
      await exclusive(() => giveBack(given));
      await lease.release();
    },
  };
}

/** Claims what is still claimable of these; a task that was claimed too often without an event ends here. */
async function claimAll(tx: Tx, candidates: readonly Claimable[], nodeId: string, now: number): Promise<readonly Task[]> {
  const claimed: Task[] = [];
  for (const { id, fence, nodeId: owner, claims } of candidates) {
    const turn = claims === 0 ? ({ beginTurn: true } as const) : ({ addClaim: true } as const);
    const when = { fence, nodeId: owner, status: "running" } as const;
    const task = await tx.tasks.advance(id, { now, when, set: { nodeId, raiseFence: true, ...turn } });
    if (!task) continue;
    if (task.idleClaims < idleClaimsMax) claimed.push(task);
    else {
      const { set, events } = fail("internal", "The task was given up after it was begun again too often.");
      await tx.tasks.advance(id, { now, when: { fence: task.fence }, set, events });
    }
  }
  return claimed;
}

/** Runs pieces of work one after the other. */
function inTurn(): <T>(work: () => Promise<T>) => Promise<T> {
  let tail: Promise<unknown> = Promise.resolve();
  return (work) => {
    const result = tail.then(work);
    tail = result.catch(() => undefined);
    return result;
  };
}

const reportTo = (log: Log, text: string) => (cause: unknown) => log("error", text, { cause });
