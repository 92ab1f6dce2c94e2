import { systemClock } from "../src/core/clock.ts";
import { systemIds, systemRandom } from "../src/core/ids.ts";
import { makeWorker } from "../src/core/workers/make-worker.ts";
import { openStore } from "../src/store/open.ts";
import type { Installed } from "./installed.ts";
import type { Server } from "./servers.ts";

/** Leaves all profiles to remote workers. */
export const remoteEnv = { AGENT_PROFILES: "manus-1.6=remote,manus-1.6-lite=remote,manus-1.6-max=remote" };

/** Makes a credential of remote workers; before a server has the database, which may be one process's alone. */
export async function workerKey({ databaseUrl, owner }: Installed): Promise<string> {
  const store = await openStore({ databaseUrl, clock: systemClock, random: systemRandom });
  try {
    const making = { now: systemClock.now(), ids: systemIds, random: systemRandom };
    const wanted = { spaceId: owner.spaceId, createdBy: owner.accountId, name: "bench", profiles: [] };
    return (await store.change((tx) => makeWorker(tx, making, wanted))).text;
  } finally {
    await store.close();
  }
}

/** Workers that answer each run at once. */
export interface Pollers extends Disposable {
  /** When the answer with a task's run came, by `performance.now()`; resolves once it has. */
  pickedUp(taskId: string): Promise<number>;
}

/** A run as Poll gives it. */
interface GivenRun {
  readonly taskId: string;
  readonly fence: number;
}

/** Starts so many workers, each with one poll at a time. */
export function startPollers(server: Server, key: string, count: number): Pollers {
  const headers = { "x-api-key": key };
  const call = (method: string, body: object) => server.post(`/worker.v1.WorkerService/${method}`, body, headers);
  const watched = new Map<string, PromiseWithResolvers<number>>();
  const early = new Map<string, number>();
  let stopped = false;

  function note(taskId: string): void {
    const at = performance.now();
    const watcher = watched.get(taskId);
    if (watcher) watcher.resolve(at);
    else early.set(taskId, at);
    watched.delete(taskId);
  }

  async function work(): Promise<void> {
    while (!stopped) {
      const { run } = (await call("Poll", { waitSeconds: 30 })) as { readonly run?: GivenRun };
      if (!run) continue;
      const { taskId, fence } = run;
      note(taskId);
      await call("Finish", { taskId, fence, finish: { content: "12 * 4 = 48" } });
    }
  }

  for (let n = 0; n < count; n += 1)
    work().catch((cause: unknown) => {
      if (!stopped) throw cause;
    });
  return {
    pickedUp(taskId) {
      const at = early.get(taskId);
      if (at !== undefined) return Promise.resolve(at);
      const watcher = Promise.withResolvers<number>();
      watched.set(taskId, watcher);
      return watcher.promise;
    },
    [Symbol.dispose]() {
      stopped = true;
    },
  };
}
