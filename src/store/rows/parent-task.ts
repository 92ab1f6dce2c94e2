import type { ParentRows } from "../../core/tasks/parents.ts";
import { type EndedWait, subtasksChanged, type WaitRows } from "../../core/tasks/subtask-wait.ts";
import { changeOf, type Session } from "../session.ts";
import { join, sql } from "../statements.ts";
import { countRows, tables } from "../table.ts";

const { parentTask, subtaskWait } = tables;
const ids = parentTask.pick("taskId");
const turns = parentTask.pick("stopTurn");

/** A time that is past on every clock. */
const always = 0;

/** Tasks that have started subtasks, as rows. */
export function parentRows(session: Session): ParentRows {
  const { execute } = session;
  /** Notifies the processes that look, after the commit. */
  const notify = () => void changeOf(session).jobKinds.add(subtasksChanged);
  return {
    async lock({ id: taskId, spaceId }) {
      await execute(sql`${parentTask.insert({ taskId, spaceId })}
        ON CONFLICT (task_id) DO UPDATE SET stop_turn = parent_task.stop_turn`);
    },
    async look(taskId, at = always) {
      const changed = await execute(sql`UPDATE parent_task SET look_at = ${at} WHERE task_id = ${taskId}`);
      if (changed > 0 && at === always) notify();
    },
    async requestStop(taskId, turn) {
      await execute(
        sql`UPDATE parent_task SET stop_turn = ${turn}, look_at = ${always} WHERE task_id = ${taskId}`,
      );
      notify();
    },
    async stopTurn(taskId) {
      const row = await turns.row(session)(
        sql`SELECT ${turns.of("p")} FROM parent_task p WHERE p.task_id = ${taskId}`,
      );
      return row?.stopTurn ?? 0;
    },
    async endStop(taskId, turn) {
      await execute(
        sql`UPDATE parent_task SET stop_turn = 0 WHERE task_id = ${taskId} AND stop_turn = ${turn}`,
      );
    },
    async due(now, max) {
      const rows = await ids.rows(session)(sql`
        SELECT ${ids.of("p")} FROM parent_task p WHERE p.look_at <= ${now} ORDER BY p.look_at LIMIT ${max}`);
      return rows.map(({ taskId }) => taskId);
    },
    async remove(taskId) {
      await execute(sql`DELETE FROM parent_task WHERE task_id = ${taskId}`);
    },
    take: async (taskId, now) =>
      (await execute(
        sql`UPDATE parent_task SET look_at = NULL WHERE task_id = ${taskId} AND look_at <= ${now} AND stop_turn = 0`,
      )) === 1,
  };
}

const waits = sql`SELECT ${subtaskWait.of("w")} FROM subtask_wait w`;

/** Waits for subtasks as rows. A caller that writes one must hold the lock of the task's row. */
export function waitRows(session: Session): WaitRows {
  const { execute } = session;
  return {
    async insert(wait) {
      await execute(subtaskWait.insert(wait));
    },
    latest: (taskId) =>
      subtaskWait.row(session)(sql`${waits} WHERE w.task_id = ${taskId} ORDER BY w.seq DESC LIMIT 1`),
    async endedAfter(taskId, seq) {
      const rows = await subtaskWait.rows(session)(sql`
        ${waits} WHERE w.task_id = ${taskId} AND w.seq > ${seq} AND w.reason IS NOT NULL ORDER BY w.seq`);
      return rows.flatMap(({ reason, ends, ...wait }): EndedWait[] =>
        reason === null || ends === null ? [] : [{ ...wait, reason, ends }],
      );
    },
    countAfter: (taskId, seq) =>
      countRows(session, sql`FROM subtask_wait w WHERE w.task_id = ${taskId} AND w.seq > ${seq}`),
    async end({ taskId, seq, reason, ends }) {
      await execute(
        sql`UPDATE subtask_wait SET ${join(subtaskWait.set({ reason, ends }))} WHERE task_id = ${taskId} AND seq = ${seq}`,
      );
    },
    async deleteOfTask(taskId) {
      await execute(sql`DELETE FROM subtask_wait WHERE task_id = ${taskId}`);
    },
  };
}
