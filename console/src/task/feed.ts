import { type TaskEvent, TaskEventType } from "#proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "#proto/task/v2/task_pb.ts";
import type { TextDelta } from "#proto/task/v2/task_service_pb.ts";

/** The text that the agent writes now. */
export interface LiveText {
  /** The key of what shows it, also once it is an event: then the page changes only where the text does. */
  readonly key: string;
  readonly type: TaskEventType;
  readonly attempt: bigint;
  /** Empty after a gap. */
  readonly text: string;
  /** The newest event when the text began. */
  readonly afterSeq: number;
}

/** Where an event is shown whose text was shown before: in the place of its text. */
export type ShownText = Pick<LiveText, "key" | "afterSeq">;

/** What a page knows of a task. */
export interface Feed {
  /** In the order of `seq`. */
  readonly events: readonly TaskEvent[];
  readonly live: LiveText | null;
  /** The events whose text was shown before, by the id of the event. */
  readonly shown: ReadonlyMap<string, ShownText>;
}

export const emptyFeed: Feed = { events: [], live: null, shown: new Map() };

/** Adds newer events, and parts of texts, in the order of their arrival (spec/api.md 8.72). */
export function addToFeed({ events, live, shown }: Feed, news: readonly (TaskEvent | TextDelta)[]): Feed {
  const all = [...events];
  const named = new Map(shown);
  let open = live;
  for (const item of news) {
    if (!("seq" in item)) {
      open = withPart(open, item, all.at(-1)?.seq ?? 0);
      continue;
    }
    all.push(item);
    if (open === null || !endsText(item, open)) continue;
    const { key, afterSeq, type, text } = open;
    if (item.type === type && text !== "" && ![...named.values()].some((other) => other.key === key)) named.set(item.id, { key, afterSeq });
    open = null;
  }
  return { events: all, live: open, shown: named };
}

/** A part that begins a text, or continues it. A stream that is opened again begins with the text so far. */
function withPart(live: LiveText | null, { attempt, messageKey, offset, text, type }: TextDelta, lastSeq: number): LiveText | null {
  if (live && attempt < live.attempt) return live;
  const known = live?.attempt === attempt ? live.text : "";
  const grown = offset === 0 ? text : offset === known.length ? known + text : "";
  const key = `live ${messageKey}`;
  return { key, type, attempt, text: grown, afterSeq: live?.key === key ? live.afterSeq : lastSeq };
}

/** Whether an event replaces the text, or ends the turn in which it was written. */
function endsText({ type, payload }: TaskEvent, live: LiveText): boolean {
  if (payload.case === "statusUpdate") return payload.value.agentStatus !== TaskStatus.RUNNING;
  return type === live.type || type === TaskEventType.ERROR_MESSAGE || type === TaskEventType.USER_STOP;
}
