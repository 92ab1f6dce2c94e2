import { defaultAgent, defaultMainTask } from "../../core/agents/agent.ts";
import type { Scope } from "../../core/caller.ts";
import type { Json, JsonObject } from "../../core/json.ts";
import type { NewEvent } from "../../core/tasks/event.ts";
import type { Task, TaskFilter, TaskPage, TaskRows, TaskView } from "../../core/tasks/task.ts";
import { changeOf, type Session } from "../session.ts";
import { all, direction, empty, forUpdate, insertInto, join, type Sql, sql, type Whole } from "../sql.ts";
import { appendEvents } from "./event.ts";
import { advance } from "./task-advance.ts";
import { bury } from "./task-bury.ts";
import { queueOf } from "./task-queue.ts";
import { type TaskRow, type TaskViewRow, taskColumnNames, taskColumns, taskOf, taskViewOf } from "./task-row.ts";
import { begun, views, visible } from "./task-view.ts";
import { type Heard, heardWith, noteHeard } from "./webhook-audience.ts";

interface BriefingRow {
  readonly output_schema: string | null;
  readonly memo: string | null;
}

/** Tasks as rows: what callers see of them here, how they change in `task-advance.ts`. */
export function taskRows(session: Session): TaskRows {
  const { query } = session;

  async function view(scope: Scope, id: string, lock: Sql): Promise<TaskView | null> {
    const [row] = await query<TaskViewRow>(sql`
      ${views} WHERE t.id = ${id === defaultMainTask ? mainTaskOf(scope) : id} AND ${visible(scope)} ${lock}`);
    return row ? taskViewOf(row) : null;
  }

  return {
    async insert(task, events) {
      const change = changeOf(session);
      const written = withFirstEvents(task, events);
      const [row] = await query<Heard>(sql`${insertInto("task", [taskColumns(written)])} RETURNING ${heardWith(events)}`);
      noteHeard(change, task.id, row);
      await appendEvents(session, written, events);
      change.news.set(task.id, { taskId: task.id, lastSeq: written.lastSeq, fence: task.fence, status: task.status });
      return written;
    },
    find: (scope, id) => view(scope, id, empty),
    async lock(scope, id) {
      changeOf(session);
      return view(scope, id, forUpdate(session.dialect, "t"));
    },
    async countVisible(scope, ids) {
      if (ids.length === 0) return 0;
      const [row] = await query<{ readonly count: Whole }>(sql`
        SELECT COUNT(*) AS count FROM task t WHERE t.id IN (${join([...ids])}) AND ${visible(scope)}`);
      return Number(row?.count ?? 0);
    },
    async list(scope, filter, page) {
      const rows = await query<TaskViewRow>(sql`
        ${views} WHERE ${all([visible(scope), begun, ...chosen(scope, filter), ...beyond(page)])}
        ORDER BY t.created_at ${direction(page.order)}, t.id ${direction(page.order)} LIMIT ${page.limit}`);
      return rows.map(taskViewOf);
    },
    async byId(id) {
      const [row] = await query<TaskRow>(sql`SELECT ${taskColumnNames("task")} FROM task WHERE id = ${id} AND deleted_at IS NULL`);
      return row ? taskOf(row) : null;
    },
    async briefing(id) {
      const [row] = await query<BriefingRow>(sql`SELECT output_schema, memo FROM task WHERE id = ${id}`);
      // Both were written by `advance`: a checked schema, and any JSON.
      const outputSchema = row?.output_schema ? (JSON.parse(row.output_schema) as JsonObject) : null;
      return { outputSchema, memo: row?.memo ? (JSON.parse(row.memo) as Json) : null };
    },
    advance: (id, step) => advance(session, id, step),
    ...queueOf(session),
    bury: (id, now, personal) => bury(session, id, now, personal),
  };
}

/** A new task's counters follow from its first events; without any they are as given. */
function withFirstEvents(task: Task, events: readonly NewEvent[]): Task {
  if (events.length === 0) return task;
  const lastSeq = task.lastSeq + events.length;
  const lastTimestamp = Math.max(task.lastTimestamp, task.createdAt) + events.length;
  const message = events.findLastIndex(({ type }) => type === "user_message");
  return { ...task, lastSeq, lastTimestamp, messageSeq: message < 0 ? task.messageSeq : task.lastSeq + message + 1 };
}

const mainTaskOf = (scope: Scope): Sql => sql`(SELECT task_id FROM agent WHERE ${isDefaultOf(scope)})`;
const isDefaultOf = ({ accountId, spaceId }: Scope): Sql => sql`space_id = ${spaceId} AND account_id = ${accountId} AND is_default`;

function chosen(scope: Scope, { type, projectId, agentId }: TaskFilter): Sql[] {
  const conditions: Sql[] = [];
  if (type !== undefined) conditions.push(sql`t.type = ${type}`);
  if (type === "standard") conditions.push(sql`t.agent_id IS NULL`);
  if (agentId === defaultAgent) conditions.push(sql`t.agent_id = (SELECT id FROM agent WHERE ${isDefaultOf(scope)})`);
  else if (agentId !== undefined) conditions.push(sql`t.agent_id = ${agentId}`);
  if (projectId !== undefined) conditions.push(sql`t.project_id = ${projectId}`);
  return conditions;
}

function beyond({ order, after }: TaskPage): Sql[] {
  if (!after) return [];
  const operator = order === "asc" ? sql`>` : sql`<`;
  return [sql`(t.created_at, t.id) ${operator} (${after.createdAt}, ${after.id})`];
}
