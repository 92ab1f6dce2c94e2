import type { Tx } from "../../core/store.ts";
import { readResult } from "../../core/tasks/subtasks.ts";
import type { Task } from "../../core/tasks/task.ts";
import type { RemoteWait } from "../../core/workers/remote-run.ts";

/**
 * The waits of a turn that are over. Only the results of the last one are read: a turn may have many, and a
 * worker has seen the others.
 */
export async function readWaits(
  store: Tx,
  { id, lastSeq, consumedSeq }: Task,
): Promise<readonly RemoteWait[]> {
  const waits = lastSeq === consumedSeq ? [] : await store.waits.endedAfter(id, consumedSeq);
  return Promise.all(
    waits.map(async ({ mode, reason, ends }, index) => ({
      mode,
      reason,
      subtasks: await Promise.all(
        ends.map((end) =>
          index === waits.length - 1 ? readResult(store, end) : { ...end, lastMessage: "", attachments: [] },
        ),
      ),
    })),
  );
}
