import type { Operations, TaskEvent } from "../protocols/shared/operations.ts";

/** Pages of events, the newest first: 5,000 events. */
const pagesMax = 25;
const pageMax = 200;

/** The newest 5,000 events of a task up to `lastSeq`, oldest first. @throws Refusal */
export async function readEvents(operations: Operations, taskId: string, lastSeq: number, signal: AbortSignal): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  let cursor: unknown;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = { task_id: taskId, order: "desc", verbose: true, limit: pageMax, ...(cursor ? { cursor } : {}) };
    const { messages, next_cursor } = await operations.call("task.listMessages", request, signal);
    events.push(...(messages as readonly TaskEvent[]).filter(({ seq }) => seq <= lastSeq)); // By the schema of the answer.
    cursor = next_cursor;
    if (!cursor) break;
  }
  return events.reverse();
}
