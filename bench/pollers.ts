import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { createWorker } from "../src/core/workers/worker.ts";
import { openStore } from "../src/store/open.ts";
import type { Installed } from "./installed.ts";
import type { Server } from "./servers.ts";

/** Leaves all profiles to remote workers. */
export const remoteEnv = { AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=remote,manus-1.6-max=remote" };

/**
 * Creates a credential for remote workers. Call it before a server opens the database, which can be limited
 * to one process.
 */
export async function workerKey({ databaseUrl, owner }: Installed): Promise<string> {
  const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom });
  try {
    const making = { now: systemClock.now(), ids: systemIds, random: systemRandom };
    const settings = { spaceId: owner.spaceId, createdBy: owner.accountId, name: "bench", profiles: [] };
    return (await store.change((tx) => createWorker(tx, making, settings))).text;
  } finally {
    await store.close();
  }
}

/** Workers that finish each run immediately. */
export interface Pollers extends Disposable {
  /** Resolves with the time, by `performance.now()`, at which the response with a task's run arrived. */
  pickedUp(taskId: string): Promise<number>;
}

/** A run in Poll's response. */
interface PolledRun {
  readonly taskId: string;
  readonly fence: number;
}

/** Workers: how many, and how many runs each takes by one poll. */
export interface PollerPlan {
  readonly count: number;
  readonly maxRuns: number;
}

interface PolledRuns {
  readonly run?: PolledRun;
  readonly moreRuns?: readonly PolledRun[];
}

/** Starts workers, each with one poll at a time. */
export function startPollers(server: Server, key: string, { count, maxRuns }: PollerPlan): Pollers {
  const headers = { "x-api-key": key };
  const call = (method: string, body: object) =>
    server.post(`/worker.v1.WorkerService/${method}`, body, headers);
  const watched = new Map<string, PromiseWithResolvers<number>>();
  const early = new Map<string, number>();
  let stopped = false;

  function recordPickup(taskId: string): void {
    const time = performance.now();
    const watcher = watched.get(taskId);
    if (watcher) watcher.resolve(time);
    else early.set(taskId, time);
    watched.delete(taskId);
  }

  async function work(): Promise<void> {
    while (!stopped) {
      const { run, moreRuns = [] } = (await call("Poll", {
        waitSeconds: 30,
        ...(maxRuns > 1 && { maxRuns }),
      })) as PolledRuns;
      if (run) await Promise.all([run, ...moreRuns].map(finish));
    }
  }

  async function finish({ taskId, fence }: PolledRun): Promise<void> {
    recordPickup(taskId);
    await call("Finish", { taskId, fence, finish: { content: "12 * 4 = 48" } });
  }

  for (let n = 0; n < count; n += 1)
    work().catch((cause: unknown) => {
      if (!stopped) throw cause;
    });
  return {
    pickedUp(taskId) {
      const time = early.get(taskId);
      if (time !== undefined) return Promise.resolve(time);
      const watcher = Promise.withResolvers<number>();
      watched.set(taskId, watcher);
      return watcher.promise;
    },
    [Symbol.dispose]() {
      stopped = true;
    },
  };
}
