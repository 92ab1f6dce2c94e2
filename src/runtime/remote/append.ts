import { Failure } from "../../core/failure.ts";
import type { Tx } from "../../core/store.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { SentEvent, Spent } from "../../core/workers/remote-run.ts";
import type { KeyedEvent } from "../../core/workers/worker-run.ts";
import type { AgentEvent } from "../agent.ts";
import type { StagedFile } from "../artefacts.ts";
import { append, type Done } from "../ending.ts";
import { Lost } from "../steps.ts";
import { checkRoom, isMainTask } from "../subtasks.ts";
import { keeping, runStore } from "./held-run.ts";
import { adopting, type UploadParts, uploadOf, uploadsOf, useUp } from "./uploads.ts";

/** Another call of the same run was first with the same key: what it wrote is there now. */
class Repeated extends Error {}

/** What became of events that were sent. */
export interface Sent {
  /** Their numbers, in their order. */
  readonly numbers: readonly number[];
  /** What was used has overdrawn a budget. */
  readonly overdrawn: boolean;
}

/**
 * Writes what of these events the turn has not yet, in one change; answers all their
 * numbers. @throws Lost when the run is no longer the worker's, Failure `exists` for a key
 * with other content.
 */
export async function appendSent(
  parts: UploadParts,
  task: Task,
  workerId: string,
  sent: readonly SentEvent[],
  spent: Spent,
): Promise<Sent> {
  for (;;) {
    try {
      return await appendNew(parts, task, workerId, sent, spent);
    } catch (thrown) {
      if (!(thrown instanceof Repeated)) throw thrown;
    }
  }
}

async function appendNew(parts: UploadParts, task: Task, workerId: string, sent: readonly SentEvent[], spent: Spent): Promise<Sent> {
  const { store, clock } = parts;
  const { id: taskId, consumedSeq: turn, fence } = task;
  const known = await knownOf(store, task, sent);
  const fresh = [...new Map(sent.filter(({ key }) => !known.has(key)).map((each) => [each.key, each])).values()];
  const numbers = new Map(known);
  const keep = async (tx: Tx, after: Task): Promise<Task> => {
    const keyed = fresh.map(({ key, digest }, i): KeyedEvent => ({ taskId, turn, key, digest, seq: after.lastSeq - fresh.length + 1 + i }));
    if ((await tx.workerEvents.insert(keyed)) < keyed.length) throw new Repeated();
    for (const { key, seq } of keyed) numbers.set(key, seq);
    for (const { site } of fresh) if (site) await useUp(tx, clock.now(), task, workerId, site.uploadId);
    // Two calls of one run come one after the other here, so that none takes the other's room.
    if (isMainTask(after) && fresh.some(({ subtask }) => subtask)) await checkRoom(tx, after, [], 0);
    return after;
  };
  const run = { taskId, workerId, fence };
  let overdrawn = false;
  if (fresh.length === 0) {
    // A call that says nothing new is a sign of life all the same.
    if (!(await store.change(keeping(clock, run)))) throw new Lost();
  } else {
    const own = { ...parts, store: runStore(store, keeping(clock, run), keep), staging: adopting(parts, workerId) };
    const events = await withFiles(parts, task, workerId, fresh).catch(async (thrown) => {
      // The other call may have used up the uploads that this one looks for.
      throw (await knownOf(store, task, sent)).size > known.size ? new Repeated() : thrown;
    });
    ({ overdrawn } = await append(task, progressOf(events, spent), own));
  }
  return { numbers: sent.map(({ key }) => numbers.get(key) ?? 0), overdrawn };
}

/** The numbers of those that the turn has already. */
async function knownOf(store: Tx, { id, consumedSeq }: Task, sent: readonly SentEvent[]): Promise<ReadonlyMap<string, number>> {
  const there = await store.workerEvents.find(id, consumedSeq, [...new Set(sent.map(({ key }) => key))]);
  const digests = new Map(there.map(({ key, digest }) => [key, digest]));
  for (const [i, { key, digest }] of sent.entries()) {
    const first = digests.get(key) ?? digest;
    if (first !== digest) throw new Failure("exists", `events[${i}].key: the turn has ${key} already, with other content`);
    digests.set(key, first);
  }
  return new Map(there.map(({ key, seq }) => [key, seq]));
}

async function withFiles({ store, clock, openSite }: UploadParts, task: Task, workerId: string, sent: readonly SentEvent[]) {
  const now = clock.now();
  const events: AgentEvent<StagedFile>[] = [];
  for (const { event, uploadIds, site, subtask } of sent) {
    if (event.type === "assistant_message") events.push({ ...event, files: await uploadsOf(store, now, task, workerId, uploadIds) });
    else if (event.type !== "tool_used") events.push(event);
    else {
      const opened = site && (await openSite(site, (await uploadOf(store, now, task, workerId, site.uploadId)).staged));
      events.push({ ...event, ...(subtask && { subtask }), ...(opened && { site: opened }) });
    }
  }
  return events;
}

/** Events with what they cost. */
export const progressOf = (events: Done["events"], { credits, usage }: Spent): Done => ({
  events,
  credits,
  ...(usage === null ? {} : { usage }),
});
