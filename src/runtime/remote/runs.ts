import type { ConnectorUses } from "../../core/connectors/use.ts";
import { Failure } from "../../core/failure.ts";
import type { EventPayloads } from "../../core/tasks/event.ts";
import type { ProfileLabels } from "../../core/tasks/profile-settings.ts";
import type { Task } from "../../core/tasks/task.ts";
import { holdStep } from "../../core/usage/spend.ts";
import type {
  RemoteRun,
  RemoteRuns,
  RemoteWorker,
  RunRef,
  WantedRuns,
} from "../../core/workers/remote-run.ts";
import {
  type ClaimedTurn,
  type KnownInput,
  releaseWorkerRun,
  workerLeaseMs,
} from "../../core/workers/worker-run.ts";
import { RunLost } from "../steps.ts";
import { openTurn, type TurnParts } from "../turn.ts";
import { appendSent } from "./append.ts";
import { callTool, startSubtask } from "./call-tool.ts";
import type { Dispatch } from "./dispatch.ts";
import { type EndResult, endSpentRun, findEarlierEnding, finishSent, type SentEnding } from "./finish.ts";
import { fitting } from "./fitting-runs.ts";
import { checkRun, lostRun, mapLostRun, renewLease, requireHeldTask } from "./held-run.ts";
import { createHoldPoll } from "./hold-poll.ts";
import { openUpload, type UploadParts } from "./uploads.ts";
import { readWaits } from "./waits.ts";
import { textForwarder, type WriteTextParts } from "./write-text.ts";

export interface RemoteRunsParts
  extends UploadParts,
    WriteTextParts,
    Pick<TurnParts, "cipher" | "readFile" | "readTranscript" | "workspaceOf" | "openSkill" | "permissions"> {
  readonly dispatch: Dispatch;
  readonly connectors: ConnectorUses;
  readonly remoteProfiles: readonly string[];
  /** The labels that a worker needs for them. */
  readonly profileLabels: ProfileLabels;
  /** The most polls that one credential may hold in this process. */
  readonly pollsMax: number;
  /** The longest time that a poll is held, in milliseconds. */
  readonly pollMs: number;
}

/** The most messages that a heartbeat returns. */
const messagesMax = 100;

/** @throws Failure `permission_denied` for a name that the credential does not have. */
function checkOwned(field: keyof WantedRuns, wanted: readonly string[], owned: readonly string[]): void {
  const foreign = wanted.findIndex((name) => !owned.includes(name));
  if (foreign >= 0)
    throw new Failure("permission_denied", `${field}[${foreign}]: is not one of this credential's ${field}`);
}

/** The runs of remote workers. Claims, fences and endings are the same as for runs of this process. */
export function remoteRuns(parts: RemoteRunsParts): RemoteRuns {
  const { store, clock, remoteProfiles, profileLabels } = parts;
  const holdPoll = createHoldPoll(parts);

  /** Reads the current turn of a task for the worker that holds it. */
  async function runOf(task: Task, known?: KnownInput): Promise<RemoteRun> {
    const turn = await openTurn(parts, task, new AbortController().signal, known);
    const keyed = turn.written.length === 0 ? [] : await store.workerEvents.find(task.id, task.consumedSeq);
    const keys = new Map(keyed.map(({ seq, key }) => [seq, key]));
    const {
      taskId,
      title,
      locale,
      profile,
      instruction,
      interactive,
      history,
      asked,
      decisions,
      outputSchema,
      memo,
      claim,
    } = turn;
    return {
      taskId,
      title,
      locale,
      profile,
      instruction,
      interactive,
      history,
      asked,
      decisions,
      outputSchema,
      memo,
      claim,
      fence: task.fence,
      leaseMs: workerLeaseMs,
      references: task.references,
      skills: turn.skills,
      connectors: turn.connectors,
      subtasks: turn.subtasks?.begun ?? null,
      waits: await readWaits(store, task),
      traceparent: task.traceparent,
      written: turn.written.map((event) => ({ event, key: keys.get(event.seq) ?? "" })),
    };
  }

  /** The profiles that a worker may serve. */
  const servedBy = ({ profiles, labels }: WantedRuns): readonly string[] =>
    remoteProfiles.filter(
      (profile) =>
        (profiles.length === 0 || profiles.includes(profile)) &&
        (profileLabels[profile] ?? []).every((label) => labels.includes(label)),
    );

  /** The profiles that a poll may get. A poll can only narrow what its credential has. */
  function pollProfiles({ credential }: RemoteWorker, wanted: WantedRuns): readonly string[] {
    checkOwned(
      "profiles",
      wanted.profiles,
      credential.profiles.length === 0 ? wanted.profiles : credential.profiles,
    );
    checkOwned("labels", wanted.labels, credential.labels);
    const labels = wanted.labels.length === 0 ? credential.labels : wanted.labels;
    return servedBy({ profiles: credential.profiles, labels }).filter(
      (profile) => wanted.profiles.length === 0 || wanted.profiles.includes(profile),
    );
  }

  async function newMessages({
    id,
    consumedSeq,
    messageSeq,
  }: Task): Promise<readonly EventPayloads["user_message"][]> {
    if (messageSeq <= consumedSeq) return [];
    const events = await store.events.list(id, {
      afterSeq: consumedSeq,
      order: "desc",
      limit: messagesMax,
      verbose: false,
    });
    return events.toReversed().flatMap((event) => (event.type === "user_message" ? [event.payload] : []));
  }

  /** Renews the lease. Returns false when the worker has lost the run. */
  function renew({ id: taskId, fence }: Task, workerId: string): Promise<boolean> {
    return store.change(renewLease(clock, { taskId, workerId, fence }));
  }

  /** The run of a claimed turn; null when a budget is spent: then it ends. */
  async function beginRun({ task, workerId, known }: ClaimedTurn): Promise<RemoteRun | null> {
    const { ids, budgetStep = 0 } = parts;
    const holds =
      known?.mayHaveBudgets === false ? [] : holdStep({ store, clock, ids, step: budgetStep }, task);
    const [run, held] = await Promise.all([runOf(task, known), holds]);
    if (held !== null) return run;
    await endSpentRun(parts, task, workerId).catch((thrown: unknown) => {
      if (!(thrown instanceof RunLost)) throw thrown;
    });
    return null;
  }

  /** Returns a run to the queue. @throws Failure for a lost run. */
  async function releaseHeld(worker: RemoteWorker, { taskId, fence }: RunRef): Promise<void> {
    const key = { taskId, fence, workerId: worker.credential.id };
    await store.change(async (tx) => {
      if (!(await tx.workerRuns.remove(key))) throw lostRun();
      await releaseWorkerRun(tx, key, clock.now());
    });
  }

  async function finishHeld(
    task: Task,
    worker: RemoteWorker,
    run: RunRef,
    sent: Omit<SentEnding, "serves">,
  ): Promise<EndResult> {
    const { id } = worker.credential;
    const serves = (profile: string) => servedBy(worker.credential).includes(profile);
    try {
      return await finishSent(parts, task, id, { ...sent, serves });
    } catch (thrown) {
      // The same call may run twice at the same time.
      const before = thrown instanceof RunLost ? await findEarlierEnding(store, id, run, sent.digest) : null;
      if (before === null) throw thrown;
      return before;
    }
  }

  return {
    async poll(worker, call, wanted, limits) {
      const filter = { spaceId: worker.spaceId, profiles: pollProfiles(worker, wanted) };
      const turns = await holdPoll(call, { id: worker.credential.id, filter }, limits);
      const runs = (await Promise.all(turns.map(beginRun))).filter((run) => run !== null);
      return turns.length > 1 ? fitting(runs, (run) => releaseHeld(worker, run)) : runs;
    },

    async heartbeat(worker, run) {
      const { task, held: isHeld } = await checkRun(store, worker, run);
      if (task === null) return { stop: "deleted", newMessages: [] };
      if (!isHeld) return { stop: task.status === "running" ? "lost" : "stopped", newMessages: [] };
      if (!(await renew(task, worker.credential.id))) return { stop: "lost", newMessages: [] };
      return { stop: null, newMessages: await newMessages(task) };
    },

    async append(worker, run, events, spent) {
      const task = await requireHeldTask(store, worker, run);
      const { numbers, overdrawn } = await mapLostRun(
        appendSent(parts, task, worker.credential.id, events, spent),
      );
      if (overdrawn) await mapLostRun(endSpentRun(parts, task, worker.credential.id));
      return { numbers, stop: overdrawn ? "spent" : null };
    },

    async finish(worker, run, outcome, spent, digest) {
      const { task, held: isHeld } = await checkRun(store, worker, run);
      const before = isHeld ? null : await findEarlierEnding(store, worker.credential.id, run, digest);
      if (before !== null) return before.next && runOf(before.next);
      if (!isHeld) throw lostRun();
      const { next } = await mapLostRun(finishHeld(task, worker, run, { outcome, spent, digest }));
      return next && beginRun({ task: next, workerId: worker.credential.id });
    },

    writeText: textForwarder(parts),

    async upload(worker, run, file) {
      const task = await requireHeldTask(store, worker, run);
      if (!(await renew(task, worker.credential.id))) throw lostRun();
      return openUpload(parts, task, worker.credential.id, file);
    },

    async callTool(worker, run, call, gone) {
      const task = await requireHeldTask(store, worker, run);
      if (!(await renew(task, worker.credential.id))) throw lostRun();
      return callTool(parts, task, call, gone);
    },

    async startSubtask(worker, run, input) {
      const task = await requireHeldTask(store, worker, run);
      return mapLostRun(startSubtask(parts, task, worker.credential.id, input));
    },

    async release(worker, run) {
      await requireHeldTask(store, worker, run);
      await releaseHeld(worker, run);
    },
  };
}
