import type { KindName } from "../../core/actions/kind.ts";
import type { Json } from "../../core/json.ts";
import type { Task, TaskChanges, TaskStatus, TaskType, TaskView } from "../../core/tasks/task.ts";
import { capped, type Visibility } from "../../core/visibility.ts";
import { numberOf, type Row, raw, type Sql, type Truth, truthOf, type Value, type Whole } from "../sql.ts";

/** A row of `task` as a statement gives it. */
export interface TaskRow {
  readonly id: string;
  readonly account_id: string;
  readonly space_id: string;
  readonly client_id: string | null;
  readonly api_key_id: string | null;
  readonly project_id: string | null;
  readonly agent_id: string | null;
  readonly type: string;
  readonly title: string;
  readonly status: string;
  readonly share_visibility: string;
  readonly max_visibility: string | null;
  readonly hidden: Truth;
  readonly agent_profile: string;
  readonly locale: string;
  readonly interactive: Truth;
  readonly task_references: string;
  readonly credits: Whole;
  readonly created_at: Whole;
  readonly updated_at: Whole;
  readonly last_message_at: Whole;
  readonly last_seq: Whole;
  readonly last_timestamp: Whole;
  readonly message_seq: Whole;
  readonly answered_seq: Whole;
  readonly consumed_seq: Whole;
  readonly fence: Whole;
  readonly node_id: string | null;
  readonly wants_node: string | null;
  readonly claims: Whole;
  readonly idle_claims: Whole;
  readonly queued_at: Whole;
  readonly served_at: Whole;
  readonly allowed: string;
  readonly armed: Truth;
  readonly recalls: Truth;
}

/** The column of each member of a task. */
const columns = {
  id: "id",
  accountId: "account_id",
  spaceId: "space_id",
  clientId: "client_id",
  apiKeyId: "api_key_id",
  projectId: "project_id",
  agentId: "agent_id",
  type: "type",
  title: "title",
  status: "status",
  shareVisibility: "share_visibility",
  hidden: "hidden",
  agentProfile: "agent_profile",
  locale: "locale",
  interactive: "interactive",
  references: "task_references",
  credits: "credits",
  createdAt: "created_at",
  updatedAt: "updated_at",
  lastMessageAt: "last_message_at",
  lastSeq: "last_seq",
  lastTimestamp: "last_timestamp",
  messageSeq: "message_seq",
  answeredSeq: "answered_seq",
  consumedSeq: "consumed_seq",
  fence: "fence",
  nodeId: "node_id",
  wantsNode: "wants_node",
  claims: "claims",
  idleClaims: "idle_claims",
  queuedAt: "queued_at",
  servedAt: "served_at",
  allowed: "allowed",
} as const satisfies Record<Exclude<keyof Task, "armed" | "recalls">, keyof TaskRow>;

/**
 * The columns by name, of the table called `of`: a statement that asks for `*` would
 * break in a running process when a newer one adds a column.
 */
export const taskColumnNames = (of: "t" | "task"): Sql => names[of];

const listed = (of: string): Sql => {
  const named = Object.values(columns).map((column) => `${of}.${column}`);
  // Schema and memo may be large, and are read only where they are used.
  const flags = [`(${of}.output_schema IS NOT NULL) AS armed`, `(${of}.memo IS NOT NULL) AS recalls`];
  return raw([...named, `${of}.max_visibility`, ...flags].join(", "));
};
const names = { t: listed("t"), task: listed("task") };

/** Members of a task that have a column, by that column's name; others are left out. */
export function taskColumns(members: Partial<Task> | TaskChanges): Row {
  const row: Record<string, Value> = {};
  for (const [member, column] of Object.entries(columns)) {
    const value = (members as Partial<Record<string, Value | readonly string[]>>)[member];
    if (value !== undefined) row[column] = isList(value) ? JSON.stringify(value) : value;
  }
  const { outputSchema, memo, maxVisibility } = members as TaskChanges;
  if (maxVisibility !== undefined) row["max_visibility"] = maxVisibility;
  if (outputSchema !== undefined) row["output_schema"] = jsonOrNull(outputSchema);
  if (memo !== undefined) row["memo"] = jsonOrNull(memo);
  return row;
}

const jsonOrNull = (value: Json): string | null => (value === null ? null : JSON.stringify(value));

const isList = (value: Value | readonly string[]): value is readonly string[] => Array.isArray(value);

/** The task of a row. Words that decide something were written by this program, so they are believed. */
export const taskOf = (row: TaskRow): Task => ({
  id: row.id,
  accountId: row.account_id,
  spaceId: row.space_id,
  clientId: row.client_id,
  apiKeyId: row.api_key_id,
  projectId: row.project_id,
  agentId: row.agent_id,
  type: row.type as TaskType,
  title: row.title,
  status: row.status as TaskStatus,
  shareVisibility: capped(row.share_visibility as Visibility, row.max_visibility as Visibility | null),
  hidden: truthOf(row.hidden),
  agentProfile: row.agent_profile,
  locale: row.locale,
  interactive: truthOf(row.interactive),
  references: JSON.parse(row.task_references) as string[],
  credits: numberOf(row.credits),
  createdAt: numberOf(row.created_at),
  updatedAt: numberOf(row.updated_at),
  lastMessageAt: numberOf(row.last_message_at),
  lastSeq: numberOf(row.last_seq),
  lastTimestamp: numberOf(row.last_timestamp),
  messageSeq: numberOf(row.message_seq),
  answeredSeq: numberOf(row.answered_seq),
  consumedSeq: numberOf(row.consumed_seq),
  fence: numberOf(row.fence),
  nodeId: row.node_id,
  wantsNode: row.wants_node,
  claims: numberOf(row.claims),
  idleClaims: numberOf(row.idle_claims),
  queuedAt: numberOf(row.queued_at),
  servedAt: numberOf(row.served_at),
  armed: truthOf(row.armed),
  recalls: truthOf(row.recalls),
  allowed: JSON.parse(row.allowed) as KindName[],
});

/** A row of `task` with its key's present name beside it. */
export type TaskViewRow = TaskRow & { readonly api_key_name: string | null };

export const taskViewOf = (row: TaskViewRow): TaskView => ({ ...taskOf(row), apiKeyName: row.api_key_name });
