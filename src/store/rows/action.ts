import type { ActionRows } from "../../core/actions/action.ts";
import type { Session } from "../session.ts";
import { sql } from "../statements.ts";
import { tables } from "../table.ts";

const { pendingAction } = tables;
const kinds = pendingAction.pick("kind");
const actions = sql`SELECT ${pendingAction.of("a")} FROM pending_action a`;

/** Actions as rows. A caller that writes one must hold the lock of the task's row. */
export function actionRows(session: Session): ActionRows {
  const { execute } = session;
  return {
    async insert(action) {
      await execute(pendingAction.insert(action));
    },
    pending: (taskId) =>
      pendingAction.row(session)(sql`${actions} WHERE a.task_id = ${taskId} AND a.state = 'pending'`),
    after: (taskId, seq) =>
      pendingAction.rows(session)(
        sql`${actions} WHERE a.task_id = ${taskId} AND a.seq > ${seq} ORDER BY a.seq`,
      ),
    async decide(taskId, seq, state, input) {
      const decided = await execute(sql`
        UPDATE pending_action SET state = ${state}, input = ${input} WHERE task_id = ${taskId} AND seq = ${seq} AND state = 'pending'`);
      return decided === 1;
    },
    async markUsed(taskId, seq) {
      const taken = await execute(
        sql`UPDATE pending_action SET state = 'used' WHERE task_id = ${taskId} AND seq = ${seq} AND state = 'accepted'`,
      );
      return taken === 1;
    },
    async unmarkUsed(taskId, seq) {
      await execute(
        sql`UPDATE pending_action SET state = 'accepted' WHERE task_id = ${taskId} AND seq = ${seq} AND state = 'used'`,
      );
    },
    async dismiss(taskId) {
      const row = await kinds.row(session)(sql`
        UPDATE pending_action SET state = 'dismissed' WHERE task_id = ${taskId} AND state = 'pending'
        RETURNING ${kinds.of("pending_action")}`);
      return row?.kind ?? null;
    },
    async deleteOfTask(taskId) {
      await execute(sql`DELETE FROM pending_action WHERE task_id = ${taskId}`);
    },
  };
}
