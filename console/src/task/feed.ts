import { type TaskEvent, TaskEventType } from "#proto/task/v2/task_event_pb.ts";
import { TaskStatus } from "#proto/task/v2/task_pb.ts";
import type { TextDelta } from "#proto/task/v2/task_service_pb.ts";
import { type LiveText as JoinedText, withPart } from "../../../packages/client/src/live-text.ts";

/** The text that the agent writes now. */
export interface LiveText extends JoinedText {
  /** The key of what shows it, also once it is an event: then the page changes only where the text does. */
  readonly key: string;
  readonly type: TaskEventType;
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
  /** The newest text, also after its event: a part of an earlier attempt can still arrive. */
  readonly newest: JoinedText | undefined;
  /** The events whose text was shown before, by the id of the event. */
  readonly shown: ReadonlyMap<string, ShownText>;
}

export const emptyFeed: Feed = { events: [], live: null, newest: undefined, shown: new Map() };

/** Adds newer events, and parts of texts, in the order of their arrival (spec/api.md 8.72). */
export function addToFeed(
  { events, live, newest, shown }: Feed,
  news: readonly (TaskEvent | TextDelta)[],
): Feed {
  const all = [...events];
  const named = new Map(shown);
  let open = live;
  let last = newest;
  for (const item of news) {
    if (!("seq" in item)) {
      const joined = withPart(last, { ...item, key: `live ${item.messageKey}` });
      if (!joined) continue;
      last = joined;
      open = {
        ...joined,
        type: item.type,
        afterSeq: open?.key === joined.key ? open.afterSeq : (all.at(-1)?.seq ?? 0),
      };
      continue;
    }
    all.push(item);
    if (open === null || !endsText(item, open)) continue;
    const { key, afterSeq, type, text } = open;
    if (item.type === type && text !== "" && ![...named.values()].some((other) => other.key === key))
      named.set(item.id, { key, afterSeq });
    open = null;
    if (last) last = { ...last, text: "" };
  }
  return { events: all, live: open, newest: last, shown: named };
}

/** Whether an event replaces the text, or ends the turn in which it was written. */
function endsText({ type, payload }: TaskEvent, live: LiveText): boolean {
  if (payload.case === "statusUpdate") return payload.value.agentStatus !== TaskStatus.RUNNING;
  return type === live.type || type === TaskEventType.ERROR_MESSAGE || type === TaskEventType.USER_STOP;
}
