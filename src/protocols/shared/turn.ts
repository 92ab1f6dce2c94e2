import { isQuestion as waitsForAnswer } from "../../../packages/client/src/index.ts";
import type { ShownAct } from "../../core/actions/act.ts";
import { visible } from "../../core/actions/visible.ts";
import type { Json, Operations, TaskEvent, Watched } from "./operations.ts";

/** A turn of a task: its events are those after `seq`. */
export interface Turn {
  readonly taskId: string;
  readonly seq: number;
}

/** The wait of a task for its user (spec/api.md 9.3). */
export interface Waiting extends ShownAct {
  readonly eventId: string;
  /** For instance `messageAskUser` or `terminalExecute`. */
  readonly kind: string;
  readonly description: string;
  /** JSON Schema of the decision; absent for a question. */
  readonly schema?: Json;
  /** The page of the task, where every action can be decided. */
  readonly taskUrl: string;
}

/** A turn as far as it went. */
export interface Progress {
  readonly task: Json;
  /** The events of the turn that were seen, at most `eventsMax`. */
  readonly events: readonly TaskEvent[];
  readonly waiting: Waiting | null;
  readonly lastSeq: number;
}

export interface Following {
  readonly signal: AbortSignal;
  /** Aborted when the wait is over; the task continues. */
  readonly enough: AbortSignal;
  /** Receives a short text for each event, and the text that the agent writes. */
  report(text: string): Promise<void>;
  /** Events up to this one were reported before. */
  readonly seen: number;
}

/** The newest events of a turn that are kept. */
const eventsMax = 500;
/** Characters of a text in a report. */
const reportMax = 500;

/** Follows a turn until the task does not run, or the wait is over. @throws Refusal, and the signal's reason */
export async function follow(
  operations: Operations,
  { taskId, seq }: Turn,
  { signal, enough, report, seen }: Following,
): Promise<Progress> {
  const events: TaskEvent[] = [];
  let lastSeq = seq;
  try {
    for await (const item of operations.watch(taskId, seq, AbortSignal.any([signal, enough]))) {
      const text = reportOf(item);
      if ("event" in item) {
        lastSeq = item.event.seq;
        events.push(item.event);
        if (events.length > eventsMax) events.shift();
      }
      if (text !== "" && lastSeq > seen) await report(text);
      if (enough.aborted) break;
    }
  } catch (thrown) {
    signal.throwIfAborted();
    if (!enough.aborted) throw thrown;
  }
  signal.throwIfAborted();
  const task = await readTask(operations, taskId, signal);
  return { task, events, lastSeq, waiting: waitingOf(task) };
}

export async function readTask(operations: Operations, taskId: string, signal: AbortSignal): Promise<Json> {
  const { task } = await operations.call("task.detail", { task_id: taskId }, signal);
  return task as Json; // By the schema of the answer.
}

/** What the task waits for; null when it does not wait. */
export function waitingOf({ status, status_detail: detail, task_url }: Json): Waiting | null {
  if (status !== "waiting" || typeof detail !== "object" || detail === null) return null;
  const { waiting_for_event_id, waiting_for_event_type, waiting_description, confirm_input_schema, tool } = detail as Readonly<
    Record<string, unknown>
  >;
  return {
    eventId: String(waiting_for_event_id),
    kind: String(waiting_for_event_type),
    description: String(waiting_description ?? ""),
    taskUrl: String(task_url),
    // JSON objects, by the schema of the answer.
    ...(confirm_input_schema ? { schema: confirm_input_schema as Json } : {}),
    ...(tool ? { tool: tool as NonNullable<Waiting["tool"]> } : {}),
  };
}

/** A message answers a question; every other wait is for an approval. */
export const isQuestion = ({ kind }: Pick<Waiting, "kind">): boolean => waitsForAnswer({ waiting_for_event_type: kind });

/** The details of an event: the member with the name of its type. */
export const detailsOf = (event: TaskEvent): Json => (event[event.type] ?? {}) as Json;

const reportOf = (item: Watched): string => visible(("event" in item ? textOf(item.event) : item.text).slice(-reportMax));

/** A short text for an event; empty for one that says nothing. */
function textOf(event: TaskEvent): string {
  const { content, brief, title, steps } = detailsOf(event);
  if (event.type === "user_message") return "";
  if (Array.isArray(steps)) return steps.map((step: Json) => `${step["status"]}: ${step["title"]}`).join("; ");
  return String(content ?? brief ?? title ?? "");
}
