import type { ConnectorUses } from "../../core/connectors/use.ts";
import { Failure } from "../../core/failure.ts";
import type { EventPayloads } from "../../core/tasks/event.ts";
import type { Task } from "../../core/tasks/task.ts";
import { hasNothingLeft } from "../../core/usage/reserve.ts";
import { giveBackRun } from "../../core/workers/give-back.ts";
import type { RemoteRun, RemoteRuns, RemoteWorker, RunRef } from "../../core/workers/remote-run.ts";
import { workerLeaseMs } from "../../core/workers/worker-run.ts";
import { Lost } from "../steps.ts";
import { openTurn, type TurnParts } from "../turn.ts";
import { appendSent } from "./append.ts";
import { callTool } from "./call-tool.ts";
import type { Dispatch } from "./dispatch.ts";
import { type Ended, endedBefore, finishSent, type SentEnding } from "./finish.ts";
import { heldTask, keeping, lostRun, standingOf, unlessLost } from "./held-run.ts";
import { polls } from "./polls.ts";
import { endSpentRun } from "./spent.ts";
import { startSubtask } from "./start-subtask.ts";
import { openUpload, type UploadParts } from "./uploads.ts";

/** What the runs of remote workers need. */
export interface RemoteRunsParts extends UploadParts, Pick<TurnParts, "cipher" | "readFile" | "workspaceOf" | "openSkill"> {
  readonly dispatch: Dispatch;
  readonly connectors: ConnectorUses;
  /** The profiles whose tasks are done by remote workers. */
  readonly remoteProfiles: readonly string[];
  /** Polls that one credential may have held in this process. */
  readonly pollsMax: number;
  /** No poll is held for longer, in milliseconds. */
  readonly pollMs: number;
}

/** Messages that a heartbeat tells of at most. */
const messagesMax = 100;

/** The runs of remote workers: the same claims, fences and endings as those of this process. */
export function remoteRuns(parts: RemoteRunsParts): RemoteRuns {
  const { store, clock, remoteProfiles } = parts;
  const held = polls(parts);

  /** The turn that a task is in, for the worker that has it. */
  async function runOf(task: Task): Promise<RemoteRun> {
    const turn = await openTurn(parts, task, new AbortController().signal);
    const keyed = turn.written.length === 0 ? [] : await store.workerEvents.find(task.id, task.consumedSeq);
    const keys = new Map(keyed.map(({ seq, key }) => [seq, key]));
    const { taskId, title, locale, profile, instruction, interactive, earlier, asked, decisions, outputSchema, memo, claim } = turn;
    return {
      ...{ taskId, title, locale, profile, instruction, interactive, earlier, asked, decisions, outputSchema, memo, claim },
      ...{ fence: task.fence, leaseMs: workerLeaseMs, references: task.references, skills: turn.skills, connectors: turn.connectors },
      subtasks: turn.subtasks?.begun ?? null,
      written: turn.written.map((event) => ({ event, key: keys.get(event.seq) ?? "" })),
    };
  }

  /** Profiles that a worker may serve. */
  const servedBy = ({ credential: { profiles } }: RemoteWorker): readonly string[] =>
    profiles.length === 0 ? remoteProfiles : remoteProfiles.filter((profile) => profiles.includes(profile));

  function wanted(worker: RemoteWorker, asked: readonly string[]): readonly string[] {
    const { profiles } = worker.credential;
    const foreign = asked.findIndex((profile) => profiles.length > 0 && !profiles.includes(profile));
    if (foreign >= 0) throw new Failure("forbidden", `profiles[${foreign}]: is not one of this credential's`);
    return servedBy(worker).filter((profile) => asked.length === 0 || asked.includes(profile));
  }

  async function newMessages({ id, consumedSeq, messageSeq }: Task): Promise<readonly EventPayloads["user_message"][]> {
    if (messageSeq <= consumedSeq) return [];
    const events = await store.events.list(id, { afterSeq: consumedSeq, order: "desc", limit: messagesMax, verbose: false });
    return events.toReversed().flatMap((event) => (event.type === "user_message" ? [event.payload] : []));
  }

  /** False when it is not the worker's any more. */
  function renew({ id: taskId, fence }: Task, workerId: string): Promise<boolean> {
    return store.change(keeping(clock, { taskId, workerId, fence }));
  }

  async function finishHeld(task: Task, worker: RemoteWorker, run: RunRef, sent: Omit<SentEnding, "serves">): Promise<Ended> {
    const { id } = worker.credential;
    const serves = (profile: string) => servedBy(worker).includes(profile);
    try {
      return await finishSent(parts, task, id, { ...sent, serves });
    } catch (thrown) {
      // The same call may have come twice at a time.
      const before = thrown instanceof Lost ? await endedBefore(store, id, run, sent.digest) : null;
      if (before === null) throw thrown;
      return before;
    }
  }

  return {
    async poll(worker, call, profiles, waitMs) {
      const filter = { spaceId: worker.spaceId, profiles: wanted(worker, profiles) };
      const task = await held(call, { id: worker.credential.id, filter }, waitMs);
      if (task === null) return null;
      const [run, isSpent] = await Promise.all([runOf(task), hasNothingLeft(store, task, clock.now())]);
      if (!isSpent) return run;
      await unlessLost(endSpentRun(parts, task, worker.credential.id));
      return null;
    },

    async heartbeat(worker, run) {
      const { task, held: isHeld } = await standingOf(store, worker, run);
      if (task === null) return { stop: "deleted", newMessages: [] };
      if (!isHeld) return { stop: task.status === "running" ? "lost" : "stopped", newMessages: [] };
      if (!(await renew(task, worker.credential.id))) return { stop: "lost", newMessages: [] };
      return { stop: null, newMessages: await newMessages(task) };
    },

    async append(worker, run, events, spent) {
      const task = await heldTask(store, worker, run);
      const { numbers, overdrawn } = await unlessLost(appendSent(parts, task, worker.credential.id, events, spent));
      if (overdrawn) await unlessLost(endSpentRun(parts, task, worker.credential.id));
      return { numbers, stop: overdrawn ? "spent" : null };
    },

    async finish(worker, run, outcome, spent, digest) {
      const { task, held: isHeld } = await standingOf(store, worker, run);
      const before = isHeld ? null : await endedBefore(store, worker.credential.id, run, digest);
      if (before !== null) return before.next && runOf(before.next);
      if (!isHeld) throw lostRun();
      const { next } = await unlessLost(finishHeld(task, worker, run, { outcome, spent, digest }));
      return next && runOf(next);
    },

    async upload(worker, run, file) {
      const task = await heldTask(store, worker, run);
      if (!(await renew(task, worker.credential.id))) throw lostRun();
      return openUpload(parts, task, worker.credential.id, file);
    },

    async callTool(worker, run, call, gone) {
      const task = await heldTask(store, worker, run);
      if (!(await renew(task, worker.credential.id))) throw lostRun();
      return callTool(parts, task, call, gone);
    },

    async startSubtask(worker, run, wanted) {
      const task = await heldTask(store, worker, run);
      return unlessLost(startSubtask(parts, task, worker.credential.id, wanted));
    },

    async release(worker, run) {
      const task = await heldTask(store, worker, run);
      const key = { taskId: task.id, fence: task.fence, workerId: worker.credential.id };
      await store.change(async (tx) => {
        if (!(await tx.workerRuns.remove(key))) throw lostRun();
        await giveBackRun(tx, key, clock.now());
      });
    },
  };
}
