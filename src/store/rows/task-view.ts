import type { Scope } from "../../core/caller.ts";
import { type Sql, sql } from "../sql.ts";
import { taskColumnNames } from "./task-row.ts";

/** Rows as callers see them. The key's name not by a join: on SQLite that makes every column cost several times as much. */
export const views = sql`SELECT ${taskColumnNames("t")}, (SELECT name FROM api_key WHERE id = t.api_key_id) AS api_key_name FROM task t`;

/** The rows that a caller may know of (contract/decisions.md 1, 26). */
export function visible({ accountId, spaceId, clientId }: Scope): Sql {
  const own = sql`t.space_id = ${spaceId} AND t.account_id = ${accountId} AND t.deleted_at IS NULL`;
  return clientId === undefined ? own : sql`${own} AND t.client_id = ${clientId}`;
}

/** An agent's main task is there before anybody has said a word in it. */
export const begun = sql`(t.agent_id IS NULL OR t.last_seq > 0)`;
