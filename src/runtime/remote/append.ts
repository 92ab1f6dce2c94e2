import { Failure } from "../../core/failure.ts";
import type { Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { ReportedUsage, SentEvent } from "../../core/workers/remote-run.ts";
import type { KeyedEvent } from "../../core/workers/worker-run.ts";
import type { AgentEvent } from "../agent.ts";
import type { StagedFile } from "../artifacts.ts";
import { append, type StagedProgress, type WrittenTask } from "../ending.ts";
import { RunLost } from "../steps.ts";
import { renewLease } from "./held-run.ts";
import { adoptUploads, deleteUsedUpload, findUpload, findUploads, type UploadParts } from "./uploads.ts";

/** Another call of the same run was first with the same key: its event is written now. */
class Repeated extends Error {}

/** The result of appending sent events. */
export interface AppendResult {
  /** The events' sequence numbers, in the order of the events. */
  readonly numbers: readonly number[];
  /** True when the usage has overdrawn a budget. */
  readonly overdrawn: boolean;
}

/**
 * Writes the events that the turn does not have so far, in one change. Returns the numbers of all sent events.
 *
 * @throws Lost when the worker has lost the run, Failure `already_exists` for a known key with other content.
 */
export async function appendSent(
  parts: UploadParts,
  task: Task,
  workerId: string,
  sent: readonly SentEvent[],
  spent: ReportedUsage,
): Promise<AppendResult> {
  for (;;) {
    try {
      return await appendNew(parts, task, workerId, sent, spent);
    } catch (thrown) {
      if (!(thrown instanceof Repeated)) throw thrown;
    }
  }
}

async function appendNew(
  parts: UploadParts,
  task: Task,
  workerId: string,
  sent: readonly SentEvent[],
  spent: ReportedUsage,
): Promise<AppendResult> {
  const { store, clock } = parts;
  const { id: taskId, consumedSeq: turn, fence } = task;
  const known = await knownNumbers(store, task, sent);
  const newEvents = [...new Map(sent.filter(({ key }) => !known.has(key)).map((each) => [each.key, each])).values()];
  const numbers = new Map(known);
  const keep = async (tx: Tx, after: WrittenTask): Promise<WrittenTask> => {
    const keyed = newEvents.map(
      ({ key, digest }, i): KeyedEvent => ({ taskId, turn, key, digest, seq: after.lastSeq - newEvents.length + 1 + i }),
    );
    if ((await tx.workerEvents.insert(keyed)) < keyed.length) throw new Repeated();
    for (const { key, seq } of keyed) numbers.set(key, seq);
    for (const { site } of newEvents) if (site) await deleteUsedUpload(tx, clock.now(), task, workerId, site.uploadId);
    return after;
  };
  const run = { taskId, workerId, fence };
  let overdrawn = false;
  if (newEvents.length === 0) {
    // A call without new events renews the lease too.
    if (!(await store.change(renewLease(clock, run)))) throw new RunLost();
  } else {
    const guard = { lock: renewLease(clock, run), after: keep, keepArtifact: adoptUploads(clock, workerId) };
    try {
      const events = await attachFiles(parts, task, workerId, newEvents);
      ({ overdrawn } = await append(task, stagedProgress(events, spent), parts, guard));
    } catch (thrown) {
      // Another call with the same key may have used the uploads of this one, or the last subtask that is allowed.
      throw thrown instanceof Failure && (await knownNumbers(store, task, sent)).size > known.size ? new Repeated() : thrown;
    }
  }
  return { numbers: sent.map(({ key }) => numbers.get(key) ?? 0), overdrawn };
}

/** The numbers of the events that the turn already has, by key. @throws Failure `already_exists` for a known key with other content. */
async function knownNumbers(store: Tx, { id, consumedSeq }: Task, sent: readonly SentEvent[]): Promise<ReadonlyMap<string, number>> {
  const written = await store.workerEvents.find(id, consumedSeq, [...new Set(sent.map(({ key }) => key))]);
  const digests = new Map(written.map(({ key, digest }) => [key, digest]));
  for (const [i, { key, digest }] of sent.entries()) {
    const first = digests.get(key) ?? digest;
    if (first !== digest) throw new Failure("already_exists", `events[${i}].key: the turn has ${key} already, with other content`);
    digests.set(key, first);
  }
  return new Map(written.map(({ key, seq }) => [key, seq]));
}

async function attachFiles({ store, clock, openSite }: UploadParts, task: Task, workerId: string, sent: readonly SentEvent[]) {
  const now = clock.now();
  const events: AgentEvent<StagedFile>[] = [];
  for (const { event, uploadIds, site, subtask } of sent) {
    if (event.type === "assistant_message") events.push({ ...event, files: await findUploads(store, now, task, workerId, uploadIds) });
    else if (event.type !== "tool_used") events.push(event);
    else {
      const openedSite = site && (await openSite(site, (await findUpload(store, now, task, workerId, site.uploadId)).staged));
      events.push({ ...event, ...(subtask && { subtask }), ...(openedSite && { site: openedSite }) });
    }
  }
  return events;
}

/** Joins events and their cost. */
export const stagedProgress = (events: StagedProgress["events"], { credits, usage }: ReportedUsage): StagedProgress => ({
  events,
  credits,
  ...(usage === null ? {} : { usage }),
});
