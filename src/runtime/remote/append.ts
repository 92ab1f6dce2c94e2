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

export interface AppendResult {
  /** The events' sequence numbers, in the order of the events. */
  readonly numbers: readonly number[];
  /** True when the usage has overdrawn a budget. */
  readonly overdrawn: boolean;
}

/** The numbers of the events that the turn is known to have, by key. */
type Numbers = ReadonlyMap<string, number>;

/**
 * Writes the events that the turn does not have so far, in one change. Returns the numbers of all sent
 * events. The first attempt assumes that all events are new. It is rolled back if one exists, and then the
 * existing keys are read.
 *
 * @throws RunLost when the worker has lost the run, Failure `already_exists` for a known key with other
 * content.
 */
export async function appendSent(
  parts: UploadParts,
  task: Task,
  workerId: string,
  sent: readonly SentEvent[],
  spent: ReportedUsage,
): Promise<AppendResult> {
  checkDigests(sent, new Map());
  let known: Numbers = new Map();
  for (;;) {
    try {
      return await appendNew(parts, { task, workerId, sent, spent }, known);
    } catch (thrown) {
      if (!(thrown instanceof Repeated)) throw thrown;
      known = await knownNumbers(parts.store, task, sent);
    }
  }
}

/** The events of one call. */
interface Sending {
  readonly task: Task;
  readonly workerId: string;
  readonly sent: readonly SentEvent[];
  readonly spent: ReportedUsage;
}

async function appendNew(
  parts: UploadParts,
  { task, workerId, sent, spent }: Sending,
  known: Numbers,
): Promise<AppendResult> {
  const { store, clock } = parts;
  const { id: taskId, consumedSeq, fence } = task;
  const newEvents = [
    ...new Map(sent.filter(({ key }) => !known.has(key)).map((each) => [each.key, each])).values(),
  ];
  const numbers = new Map(known);
  const keep = async (tx: Tx, after: WrittenTask): Promise<WrittenTask> => {
    const keyed = newEvents.map(
      ({ key, digest }, i): KeyedEvent => ({
        taskId,
        turn: consumedSeq,
        key,
        digest,
        seq: after.lastSeq - newEvents.length + 1 + i,
      }),
    );
    if ((await tx.workerEvents.insert(keyed)) < keyed.length) throw new Repeated();
    for (const { key, seq } of keyed) numbers.set(key, seq);
    for (const { site } of newEvents)
      if (site) await deleteUsedUpload(tx, clock.now(), task, workerId, site.uploadId);
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
      // Another call with the same key may have used the uploads of this one, or the last subtask that is
      // allowed.
      throw thrown instanceof Failure && (await knownNumbers(store, task, sent)).size > known.size
        ? new Repeated()
        : thrown;
    }
  }
  return { numbers: sent.map(({ key }) => numbers.get(key) ?? 0), overdrawn };
}

/**
 * The numbers of the events that the turn already has. @throws Failure `already_exists` for a known key with
 * other content.
 */
async function knownNumbers(
  store: Tx,
  { id, consumedSeq }: Task,
  sent: readonly SentEvent[],
): Promise<Numbers> {
  const written = await store.workerEvents.find(id, consumedSeq, [...new Set(sent.map(({ key }) => key))]);
  checkDigests(sent, new Map(written.map(({ key, digest }) => [key, digest])));
  return new Map(written.map(({ key, seq }) => [key, seq]));
}

/**
 * @param known the digests of written events, by key. @throws Failure `already_exists` for a key with two
 * contents.
 */
function checkDigests(sent: readonly SentEvent[], known: ReadonlyMap<string, string>): void {
  const digests = new Map(known);
  for (const [i, { key, digest }] of sent.entries()) {
    const first = digests.get(key) ?? digest;
    if (first !== digest)
      throw new Failure(
        "already_exists",
        `events[${i}].key: the turn has ${key} already, with other content`,
      );
    digests.set(key, first);
  }
}

async function attachFiles(
  { store, clock, openSite }: UploadParts,
  task: Task,
  workerId: string,
  sent: readonly SentEvent[],
) {
  const now = clock.now();
  const events: AgentEvent<StagedFile>[] = [];
  for (const { event, uploadIds, site, subtask } of sent) {
    if (event.type === "assistant_message")
      events.push({ ...event, files: await findUploads(store, now, task, workerId, uploadIds) });
    else if (event.type !== "tool_used") events.push(event);
    else {
      const openedSite =
        site && (await openSite(site, (await findUpload(store, now, task, workerId, site.uploadId)).staged));
      events.push({ ...event, ...(subtask && { subtask }), ...(openedSite && { site: openedSite }) });
    }
  }
  return events;
}

export const stagedProgress = (
  events: StagedProgress["events"],
  { credits, usage }: ReportedUsage,
): StagedProgress => ({
  events,
  credits,
  ...(usage === null ? {} : { usage }),
});
