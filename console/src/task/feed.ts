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
}

/** What a page knows of a task. */
export interface Feed {
  /** In the order of `seq`. */
  readonly events: readonly TaskEvent[];
  readonly live: LiveText | null;
  /** The keys of events whose text was shown before, by the id of the event. */
  readonly keys: ReadonlyMap<string, string>;
}

export const emptyFeed: Feed = { events: [], live: null, keys: new Map() };

/** Adds newer events, and parts of texts, in the order of their arrival (spec/api.md 8.72). */
export function addToFeed({ events, live, keys }: Feed, news: readonly (TaskEvent | TextDelta)[]): Feed {
  const all = [...events];
  const named = new Map(keys);
  let shown = live;
  for (const item of news) {
    if (!("seq" in item)) {
      shown = withPart(shown, item);
      continue;
    }
    all.push(item);
    if (shown === null || !endsText(item, shown)) continue;
    if (item.type === shown.type && shown.text !== "" && ![...named.values()].includes(shown.key)) named.set(item.id, shown.key);
    shown = null;
  }
  return { events: all, live: shown, keys: named };
}

/** A part that begins a text, or continues it. A stream that is opened again begins with the text so far. */
function withPart(live: LiveText | null, { attempt, messageKey, offset, text, type }: TextDelta): LiveText | null {
  if (live && attempt < live.attempt) return live;
  const known = live?.attempt === attempt ? live.text : "";
  const grown = offset === 0 ? text : offset === known.length ? known + text : "";
  return { key: `live ${messageKey}`, type, attempt, text: grown };
}

/** Whether an event replaces the text, or ends the turn in which it was written. */
function endsText({ type, payload }: TaskEvent, live: LiveText): boolean {
  if (payload.case === "statusUpdate") return payload.value.agentStatus !== TaskStatus.RUNNING;
  return type === live.type || type === TaskEventType.ERROR_MESSAGE || type === TaskEventType.USER_STOP;
}
