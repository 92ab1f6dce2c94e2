import type { Action, ActionRows, ActionState } from "../../core/actions/action.ts";
import type { KindName } from "../../core/actions/kind.ts";
import type { Session } from "../session.ts";
import { bytesOrNull, insertInto, numberOf, sql, type Whole } from "../sql.ts";

interface ActionRow {
  readonly task_id: string;
  readonly seq: Whole;
  readonly space_id: string;
  readonly kind: string;
  readonly variant: string;
  readonly action_id: string;
  readonly state: string;
  readonly input: Uint8Array | null;
}

const columns = sql`task_id, seq, space_id, kind, variant, action_id, state, input`;

/** What tasks ask their users for, as rows; the task's own row is locked by whoever writes one. */
export function actionRows({ query, execute }: Session): ActionRows {
  return {
    async insert({ taskId, spaceId, actionId, ...same }) {
      await execute(insertInto("pending_action", [{ task_id: taskId, space_id: spaceId, action_id: actionId, ...same }]));
    },
    async pending(taskId) {
      const [row] = await query<ActionRow>(sql`
        SELECT ${columns} FROM pending_action WHERE task_id = ${taskId} AND state = 'pending'`);
      return row ? actionOf(row) : null;
    },
    async after(taskId, seq) {
      const rows = await query<ActionRow>(sql`
        SELECT ${columns} FROM pending_action WHERE task_id = ${taskId} AND seq > ${seq} ORDER BY seq`);
      return rows.map(actionOf);
    },
    async decide(taskId, seq, state, input) {
      const decided = await execute(sql`
        UPDATE pending_action SET state = ${state}, input = ${input} WHERE task_id = ${taskId} AND seq = ${seq} AND state = 'pending'`);
      return decided === 1;
    },
    async take(taskId, seq) {
      const taken = await execute(
        sql`UPDATE pending_action SET state = 'used' WHERE task_id = ${taskId} AND seq = ${seq} AND state = 'accepted'`,
      );
      return taken === 1;
    },
    async giveBack(taskId, seq) {
      await execute(sql`UPDATE pending_action SET state = 'accepted' WHERE task_id = ${taskId} AND seq = ${seq} AND state = 'used'`);
    },
    async dismiss(taskId) {
      const [row] = await query<Pick<ActionRow, "kind">>(sql`
        UPDATE pending_action SET state = 'dismissed' WHERE task_id = ${taskId} AND state = 'pending' RETURNING kind`);
      return row ? (row.kind as KindName) : null;
    },
    async erase(taskId) {
      await execute(sql`DELETE FROM pending_action WHERE task_id = ${taskId}`);
    },
  };
}

/** Kind and state are words that this program wrote. */
const actionOf = (row: ActionRow): Action => ({
  taskId: row.task_id,
  seq: numberOf(row.seq),
  spaceId: row.space_id,
  kind: row.kind as KindName,
  variant: row.variant,
  actionId: row.action_id,
  state: row.state as ActionState,
  input: bytesOrNull(row.input),
});
