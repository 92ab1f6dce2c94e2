import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Ids, Random } from "../ids.ts";
import { type CreationContext, isKeyName, keyNameRule } from "../keys/api-key.ts";
import { secretDigest, secretTexts } from "../keys/secret-text.ts";
import { dayMs, purging } from "../processes/timed-job.ts";
import type { Tx } from "../store.ts";
import { releaseWorkerRun } from "./worker-run.ts";

/** The most active worker credentials of a space. */
const activeWorkersMax = 50;

const texts = secretTexts("wk-", "worker");

/** A new credential's text: `wk-`, 43 base64url characters of 32 random bytes, 6 of a checksum over them. */
export const newWorkerText = texts.make;

/** True for a text in the form of a worker's credential. */
export const isWorkerText = texts.matches;

/** The stored form of the credential. */
export const workerDigest = secretDigest;

/** A stored credential of remote workers in one space: never its text. Times are Unix milliseconds. */
export interface Worker {
  readonly id: string;
  readonly spaceId: string;
  readonly name: string;
  /** SHA-256 of the text, lower-case hex. */
  readonly digest: string;
  /** The profiles whose tasks it may run; empty: all profiles of remote workers. */
  readonly profiles: readonly string[];
  /**
   * The labels of its workers, sorted: it may run tasks only of profiles whose labels it has (spec/api.md
   * 8.79).
   */
  readonly labels: readonly string[];
  /** The account that created it. */
  readonly createdBy: string;
  readonly createdAt: number;
  /** When it was last used; recorded at intervals. */
  readonly seenAt: number | null;
  readonly revokedAt: number | null;
}

/**
 * The minimum time between two recorded calls of a worker, in milliseconds: an unserved profile is noticed
 * within a minute.
 */
export const workerUseEveryMs = 15_000;

/** How a run of a worker failed: the worker reported an error, or its lease ended. */
export type WorkerFailureKind = "error" | "lease";

/** A run of a worker that failed. It is kept for 7 days. */
export interface WorkerFailure {
  readonly workerId: string;
  readonly taskId: string;
  readonly kind: WorkerFailureKind;
  /** Unix milliseconds. */
  readonly at: number;
}

/** How long failures are kept, in milliseconds. */
const failuresKeptMs = 7 * dayMs;

/** A worker credential with its load. */
export interface BusyWorker extends Worker {
  /** The number of its current runs. */
  readonly runs: number;
}

export interface WaitingTasks {
  readonly profile: string;
  readonly waiting: number;
  /** Since when the oldest task has waited. */
  readonly oldestAt: number;
}

/** The fields of a credential that change; absent ones stay. */
export type WorkerEdit = Partial<Pick<Worker, "name" | "profiles" | "labels">>;

export interface WorkerRows {
  insert(worker: Worker): Promise<void>;
  /** One statement, executed with each call. Finds revoked ones too. */
  byDigest(digest: string): Promise<Worker | null>;
  countActive(spaceId: string): Promise<number>;
  /** Active credentials of a space, newest first. */
  list(spaceId: string): Promise<readonly BusyWorker[]>;
  /** False when it is not of the space, or was revoked before. */
  revoke(spaceId: string, id: string, now: number): Promise<boolean>;
  /** The active ones among these. Their rows stay locked until the change ends, so that none is revoked. */
  lockActive(ids: readonly string[]): Promise<ReadonlySet<string>>;
  /** Records a use, unless the recorded one is less than `everyMs` older, or newer. */
  recordUse(id: string, at: number, everyMs: number): Promise<void>;
  /** Records a failed run once. @param fence of the run. */
  recordFailure(failure: WorkerFailure, fence: number): Promise<void>;
  /** The newest failures of a worker. */
  failures(workerId: string, max: number): Promise<readonly WorkerFailure[]>;
  /** Changes an active credential of a space; false when there is none. */
  update(spaceId: string, id: string, changes: WorkerEdit): Promise<boolean>;
  /** Deletes failures before a time. */
  purgeFailures(before: number): Promise<void>;
  /** The waiting tasks of a space, by profile. */
  waiting(spaceId: string, profiles: readonly string[]): Promise<readonly WaitingTasks[]>;
  /**
   * The tasks of all spaces that have waited since before a time, without a call of a worker of their space
   * and profile since then.
   */
  unserved(profiles: readonly string[], since: number): Promise<readonly WaitingTasks[]>;
}

/** A requested credential. */
export interface WorkerInput {
  readonly spaceId: string;
  /** The requesting account. */
  readonly createdBy: string;
  readonly name: string;
  readonly profiles: readonly string[];
  readonly labels?: readonly string[];
}

/**
 * Creates a worker's credential in the current change. Returns its text, which is stored nowhere.
 *
 * @throws Failure `invalid_argument` for an invalid name, `resource_exhausted` when the space has 50 active
 * ones.
 */
export async function createWorker(
  tx: Tx,
  { now, ids, random }: CreationContext,
  { spaceId, createdBy, name, profiles, labels = [] }: WorkerInput,
): Promise<{ worker: Worker; text: string }> {
  if (!isKeyName(name)) throw invalidArgument("name", keyNameRule);
  // The row lock makes counting and inserting atomic.
  await tx.accounts.lockSpace(spaceId);
  if ((await tx.workers.countActive(spaceId)) >= activeWorkersMax)
    throw new Failure(
      "resource_exhausted",
      `a space has at most ${activeWorkersMax} active worker credentials`,
    );
  const text = newWorkerText(random);
  const made = { id: ids.short(), digest: workerDigest(text), createdAt: now, seenAt: null, revokedAt: null };
  const worker: Worker = { ...made, spaceId, name, profiles, labels: labels.toSorted(), createdBy };
  await tx.workers.insert(worker);
  tx.audit.note({ subject: worker.id, after: toAuditFacts(worker) });
  return { worker, text };
}

interface WorkersParts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly random: Random;
  /** The profiles whose tasks remote workers run. */
  readonly remoteProfiles: readonly string[];
}

/** The credentials of remote workers in the caller's space. */
export interface Workers {
  /**
   * @throws Failure `invalid_argument` for an invalid name, `resource_exhausted` when the space has 50 active
   * ones.
   */
  create(
    tx: Tx,
    caller: Caller,
    input: Pick<Worker, "name" | "profiles" | "labels">,
  ): Promise<{ worker: Worker; text: string }>;
  /** Active credentials, newest first, and the tasks that wait for them, by remote profile. */
  list(tx: Tx, caller: Caller): Promise<{ workers: readonly BusyWorker[]; queue: readonly WaitingTasks[] }>;
  /**
   * New profiles and labels apply from the worker's next call on. @throws Failure `invalid_argument`,
   * `not_found`.
   */
  update(tx: Tx, caller: Caller, id: string, edit: WorkerEdit): Promise<BusyWorker>;
  /** The newest failed runs. @throws Failure `not_found` */
  failures(tx: Tx, caller: Caller, id: string): Promise<readonly WorkerFailure[]>;
  /** Releases its runs. @throws Failure `not_found` */
  revoke(tx: Tx, caller: Caller, id: string): Promise<void>;
}

const listedFailuresMax = 50;

const toAuditFacts = ({ name, profiles, labels }: Worker) => ({
  name,
  profiles: profiles.join(","),
  labels: labels.join(","),
});

/** @throws Failure `not_found` */
async function requireWorker(tx: Tx, spaceId: string, id: string): Promise<BusyWorker> {
  const worker = (await tx.workers.list(spaceId)).find((active) => active.id === id);
  if (!worker) throw notFound("worker");
  return worker;
}

export function workers({ clock, ids, random, remoteProfiles }: WorkersParts): Workers {
  return {
    create: (tx, { accountId, spaceId }, input) =>
      createWorker(tx, { now: clock.now(), ids, random }, { ...input, spaceId, createdBy: accountId }),
    async list(tx, { spaceId }) {
      const waiting = new Map(
        (await tx.workers.waiting(spaceId, remoteProfiles)).map((queue) => [queue.profile, queue]),
      );
      const queue = remoteProfiles.map(
        (profile) => waiting.get(profile) ?? { profile, waiting: 0, oldestAt: 0 },
      );
      return { workers: await tx.workers.list(spaceId), queue };
    },
    async update(tx, { spaceId }, id, { labels, ...given }) {
      const edit: WorkerEdit = labels === undefined ? given : { ...given, labels: labels.toSorted() };
      if (Object.keys(edit).length === 0) throw invalidArgument("", "name, profiles or labels is required");
      if (edit.name !== undefined && !isKeyName(edit.name)) throw invalidArgument("name", keyNameRule);
      const before = await requireWorker(tx, spaceId, id);
      if (!(await tx.workers.update(spaceId, id, edit))) throw notFound("worker");
      const after = { ...before, ...edit };
      tx.audit.note({ subject: id, before: toAuditFacts(before), after: toAuditFacts(after) });
      return after;
    },
    async failures(tx, { spaceId }, id) {
      await requireWorker(tx, spaceId, id);
      return tx.workers.failures(id, listedFailuresMax);
    },
    async revoke(tx, { spaceId }, id) {
      const now = clock.now();
      if (!(await tx.workers.revoke(spaceId, id, now))) throw notFound("worker");
      for (const run of await tx.workerRuns.listOfWorker(id)) {
        if (await tx.workerRuns.remove(run)) await releaseWorkerRun(tx, run, now);
      }
      tx.audit.note({ subject: id, after: { revoked: true } });
    },
  };
}

export const purgeFailures = purging("purge-worker-failures", (tx, now) =>
  tx.workers.purgeFailures(now - failuresKeptMs),
);
