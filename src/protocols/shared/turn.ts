import type {
  Client,
  StatusDetail,
  Task,
  TaskEvent,
  WatchEvent,
} from "../../../packages/client/src/index.ts";
import { visible } from "../../core/actions/visible.ts";
import { watchTurn } from "./caller-client.ts";

/** A turn of a task: its events are those after `seq`. */
export interface Turn {
  readonly taskId: string;
  readonly seq: number;
}

/**
 * The wait of a task for its user (spec/api.md 9.3), with the page of the task, where every action can be
 * decided.
 */
export type Waiting = StatusDetail & Pick<Task, "task_url">;

/** A turn as far as it went. */
export interface Progress {
  readonly task: Task;
  /** The events of the turn that were seen, at most `eventsMax`. */
  readonly events: readonly TaskEvent[];
  readonly waiting: Waiting | null;
  readonly lastSeq: number;
}

export interface Following {
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

/**
 * Follows a turn until the task does not run, or the wait is over. @throws ApiError, and the reason of the
 * client's signal
 */
export async function follow(
  client: Client,
  { taskId, seq }: Turn,
  { enough, report, seen }: Following,
): Promise<Progress> {
  const events: TaskEvent[] = [];
  let lastSeq = seq;
  try {
    for await (const item of watchTurn(client, taskId, seq, enough)) {
      if (item.type !== "text_delta") {
        lastSeq = item.seq;
        events.push(item);
        if (events.length > eventsMax) events.shift();
      }
      const text = reportOf(item);
      if (text !== "" && lastSeq > seen) await report(text);
      if (enough.aborted) break;
    }
  } catch (thrown) {
    if (!enough.aborted) throw thrown;
  }
  const task = await readTask(client, taskId);
  return { task, events, lastSeq, waiting: waitingOf(task) };
}

/** The task as `task.detail` returns it. @throws ApiError */
export const readTask = async (client: Client, taskId: string): Promise<Task> =>
  (await client.tasks.detail({ task_id: taskId })).task;

/** What the task waits for; null when it does not wait. */
export const waitingOf = ({
  status,
  status_detail,
  task_url,
}: Pick<Task, "status" | "status_detail" | "task_url">): Waiting | null =>
  status === "waiting" && status_detail ? { ...status_detail, task_url } : null;

/** The text of an event of a message or of a reasoning; empty for other events. */
export function textOf(event: TaskEvent): string {
  switch (event.type) {
    case "user_message":
      return event.user_message.content;
    case "assistant_message":
      return event.assistant_message.content;
    case "error_message":
      return event.error_message.content;
    case "explanation":
      return event.explanation.content;
    default:
      return "";
  }
}

const reportOf = (item: WatchEvent): string =>
  visible((item.type === "text_delta" ? item.text : briefOf(item)).slice(-reportMax));

/** A short text for an event; empty for one that says nothing. */
function briefOf(event: TaskEvent): string {
  switch (event.type) {
    case "user_message":
      return "";
    case "plan_update":
      return event.plan_update.steps.map(({ status, title }) => `${status}: ${title}`).join("; ");
    case "new_plan_step":
      return event.new_plan_step.title;
    case "status_update":
      return event.status_update.brief;
    case "tool_used":
      return event.tool_used.brief;
    default:
      return textOf(event);
  }
}
