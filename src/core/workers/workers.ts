import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import type { Tx } from "../store.ts";
import { giveBackRun } from "./give-back.ts";
import { makeWorker } from "./make-worker.ts";
import type { BusyWorker, WaitingTasks, Worker } from "./worker.ts";

/** What new rows are made from. */
interface WorkersParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  /** The profiles whose tasks are done by remote workers. */
  readonly remoteProfiles: readonly string[];
}

/** The credentials of remote workers in the caller's space. */
export interface Workers {
  /** @throws Failure `invalid` for a name that is none, `exhausted` when the space has 50 living ones. */
  create(tx: Tx, caller: Caller, wish: Pick<Worker, "name" | "profiles">): Promise<{ readonly worker: Worker; readonly text: string }>;
  /** Living ones, newest first, and what waits for them, by remote profile. */
  list(tx: Tx, caller: Caller): Promise<{ readonly workers: readonly BusyWorker[]; readonly queue: readonly WaitingTasks[] }>;
  /** Its runs are given back. @throws Failure `absent` */
  revoke(tx: Tx, caller: Caller, id: string): Promise<void>;
}

export function workers({ clock, ids, random, remoteProfiles }: WorkersParts): Workers {
  return {
    create: (tx, { accountId: createdBy, spaceId }, wish) =>
      makeWorker(tx, { now: clock.now(), ids, random }, { ...wish, spaceId, createdBy }),
    async list(tx, { spaceId }) {
      const waiting = new Map((await tx.workers.waiting(spaceId, remoteProfiles)).map((queue) => [queue.profile, queue]));
      const queue = remoteProfiles.map((profile) => waiting.get(profile) ?? { profile, waiting: 0, oldestAt: 0 });
      return { workers: await tx.workers.list(spaceId), queue };
    },
    async revoke(tx, { spaceId }, id) {
      const now = clock.now();
      if (!(await tx.workers.revoke(spaceId, id, now))) throw absent("worker");
      for (const run of await tx.workerRuns.of(id)) {
        if (await tx.workerRuns.remove(run)) await giveBackRun(tx, run, now);
      }
      tx.audit.note({ subject: id, after: { revoked: true } });
    },
  };
}
