import type { Client, TaskEvent } from "../../packages/client/src/index.ts";

/** Pages of events, the newest first: 5,000 events. */
const pagesMax = 25;
const pageMax = 200;

/** The newest 5,000 events of a task up to `lastSeq`, oldest first. @throws ApiError */
export async function readEvents(client: Client, taskId: string, lastSeq: number): Promise<TaskEvent[]> {
  const events: TaskEvent[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const request = {
      task_id: taskId,
      order: "desc",
      verbose: true,
      limit: pageMax,
      ...(cursor && { cursor }),
    } as const;
    const { messages, next_cursor } = await client.tasks.listMessages(request);
    events.push(...messages.filter(({ seq }) => seq <= lastSeq));
    cursor = next_cursor;
    if (!cursor) break;
  }
  return events.reverse();
}
