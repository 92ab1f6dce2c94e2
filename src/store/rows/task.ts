import type { Scope } from "../../core/accounts/caller.ts";
import { defaultMainTask } from "../../core/agents/agent.ts";
import type { NewEvent } from "../../core/tasks/event.ts";
import { progressOf } from "../../core/tasks/latest.ts";
import type { Task, TaskProgress, TaskView } from "../../core/tasks/task.ts";
import type { TaskResourceRows } from "../../core/tasks/task-resources.ts";
import type { TaskRows } from "../../core/tasks/task-rows.ts";
import { changeOf, type Session } from "../session.ts";
import { empty, forUpdate, inTexts, join, type Sql, sql } from "../statements.ts";
import { computedShape, countRows, tables, text } from "../table.ts";
import { appendEvents } from "./event.ts";
import { findShared } from "./shared-task.ts";
import { advance, ownerOf, tombstone } from "./task-advance.ts";
import { listChanged, listChangedInTeam } from "./task-changes.ts";
import { claimsOf } from "./task-claim.ts";
import { taskImport } from "./task-import.ts";
import { countByStatus, isDefaultOf, listTasks, listTasksOf } from "./task-list.ts";
import { insertMetadata } from "./task-metadata.ts";
import { queueOf } from "./task-queue.ts";
import { isKept, taskShape, taskViewShape, views, visible } from "./task-row.ts";
import { textIndex } from "./text-index.ts";
import { webhookEventRows } from "./webhook-event.ts";

const taskResources = tables.taskResources.pick("skills", "forced", "connectors", "browserId", "tools");

const browserUse = computedShape({ browserId: text(sql`m.browser_id`), taskId: text(sql`m.task_id`) });

export function taskResourceRows(session: Session): TaskResourceRows {
  const { execute, dialect } = session;
  return {
    find: (taskId) =>
      taskResources.row(session)(
        sql`SELECT ${taskResources.of("task_means")} FROM task_means WHERE task_id = ${taskId}`,
      ),
    async set({ id, spaceId }, resources) {
      const inserted = tables.taskResources.insert({ taskId: id, spaceId, ...resources });
      await execute(
        sql`${inserted} ON CONFLICT (task_id) DO UPDATE SET ${join(tables.taskResources.set(resources))}`,
      );
    },
    async deselectBrowser(taskId, browserId) {
      const changed = await execute(
        sql`UPDATE task_means SET browser_id = NULL WHERE task_id = ${taskId} AND browser_id = ${browserId}`,
      );
      return changed === 1;
    },
    async listBrowserUses(scope, browserIds, max) {
      if (browserIds.length === 0) return [];
      return browserUse.rows(session)(sql`
        SELECT ${browserUse.of("m")} FROM task t JOIN task_means m ON m.task_id = t.id
        WHERE ${visible(scope)} AND t.status IN ('running', 'waiting') AND m.browser_id ${inTexts(dialect, browserIds)}
        ORDER BY t.created_at DESC, t.id DESC LIMIT ${max}`);
    },
    async deleteOfTask(taskId) {
      await execute(sql`DELETE FROM task_means WHERE task_id = ${taskId}`);
    },
  };
}

const briefing = tables.task.pick("outputSchema", "memo", "turnRequest");

/** Tasks as rows. This file reads and inserts them, `task-advance.ts` changes them. */
export function taskRows(session: Session): TaskRows {
  const view = (scope: Scope, id: string, lock: Sql): Promise<TaskView | null> =>
    taskViewShape.row(session)(sql`
      ${views} WHERE ${visible(scope, id === defaultMainTask ? sql`(SELECT task_id FROM agent WHERE ${isDefaultOf(scope)})` : id)} ${lock}`);

  return {
    async insert(task, events, isSubscribed) {
      const change = changeOf(session);
      const written = withFirstEvents(task, events);
      const insert = tables.task.insert({
        ...written,
        ...firstProgress(task, events),
        indexedSeq: written.lastSeq,
        textsBehind: false,
      });
      const hasWebhooks =
        isSubscribed ?? (events.length > 0 && (await webhookEventRows(session).isSubscribed(task)));
      await session.write(insert);
      await appendEvents(session, written, events, task.title);
      await insertMetadata(session, task, task.metadata);
      change.news.set(task.id, {
        taskId: task.id,
        lastSeq: written.lastSeq,
        fence: task.fence,
        status: task.status,
        ...ownerOf(task),
      });
      return { task: written, isNew: true, events, hasWebhooks };
    },
    find: (scope, id) => view(scope, id, empty),
    findShared: findShared(session),
    async lock(scope, id) {
      changeOf(session);
      return view(scope, id, forUpdate(session.dialect, "t"));
    },
    async countVisible(scope, ids) {
      if (ids.length === 0) return 0;
      return countRows(session, sql`FROM task t WHERE t.id IN (${join([...ids])}) AND ${visible(scope)}`);
    },
    list: (scope, filter, page) => listTasks(session, scope, filter, page),
    listChanged: (scope, since, max) => listChanged(session, scope, since, max),
    listChangedInTeam: (spaceId, since, max) => listChangedInTeam(session, spaceId, since, max),
    countByStatus: (scope, filter) => countByStatus(session, scope, filter),
    listOf: (scope, filter, ids) => listTasksOf(session, scope, filter, ids),
    ...textIndex(session),
    byId: (id) =>
      taskShape.row(session)(sql`
        SELECT ${taskShape.of("task")} FROM task WHERE id = ${id} AND ${isKept}`),
    async turnInput(id) {
      const row = await briefing.row(session)(sql`SELECT ${briefing.of("task")} FROM task WHERE id = ${id}`);
      return row ?? { outputSchema: null, memo: null, turnRequest: null };
    },
    advance: (id, step) => advance(session, id, step),
    ...queueOf(session),
    ...claimsOf(session),
    ...taskImport(session),
    tombstone: (id, now, personal) => tombstone(session, id, now, personal),
  };
}

function firstProgress({ lastSeq }: Task, events: readonly NewEvent[]): Partial<TaskProgress> {
  const { statusAt, ...progress } = progressOf(events);
  return statusAt === undefined ? progress : { ...progress, statusSeq: lastSeq + statusAt };
}

/** Computes a new task's counters from its first events. Without events they stay unchanged. */
function withFirstEvents(task: Task, events: readonly NewEvent[]): Task {
  if (events.length === 0) return task;
  const lastSeq = task.lastSeq + events.length;
  const lastTimestamp = Math.max(task.lastTimestamp, task.createdAt) + events.length;
  const message = events.findLastIndex(({ type }) => type === "user_message");
  return {
    ...task,
    lastSeq,
    lastTimestamp,
    messageSeq: message < 0 ? task.messageSeq : task.lastSeq + message + 1,
  };
}
