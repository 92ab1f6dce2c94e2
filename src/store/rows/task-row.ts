import type { Scope } from "../../core/accounts/caller.ts";
import { applyCaps } from "../../core/visibility.ts";
import { type Sql, sql } from "../statements.ts";
import { boolean, tables, textOrNull } from "../table.ts";

/** Schema and memo may be large: a task has only flags for their presence. */
const flags = { armed: boolean(sql`(output_schema IS NOT NULL)`), recalls: boolean(sql`(memo IS NOT NULL)`) };

/** A task, with its visibility limited by the team. */
export const taskShape = tables.task
  .omit("outputSchema", "memo", "deletedAt", "sharedAt", "shareChangedAt")
  .with(flags)
  .derive("shareVisibility", ["shareVisibility", "maxVisibility"], applyCaps);

/** A task with the current name of its key, by a subquery: on SQLite every column of a join costs several times as much. */
export const taskViewShape = taskShape.with({ apiKeyName: textOrNull(sql`(SELECT name FROM api_key WHERE id = t.api_key_id)`) });

/** Selects tasks for callers. */
export const views = sql`SELECT ${taskViewShape.of("t")} FROM task t`;

/** The rows that a caller may see (spec/decisions.md 1, 26). */
export function visible({ accountId, spaceId, clientId }: Scope): Sql {
  const own = sql`t.space_id = ${spaceId} AND t.account_id = ${accountId} AND t.deleted_at IS NULL`;
  return clientId === undefined ? own : sql`${own} AND t.client_id = ${clientId}`;
}

/** An agent's main task exists before its first message. */
export const begun = sql`(t.agent_id IS NULL OR t.last_seq > 0)`;
