import type { AgentRows } from "../core/agents/agent.ts";
import type { Session } from "./session.ts";
import { sql } from "./sql.ts";

/** Agents as rows. */
export function agentRows({ db, query }: Session): AgentRows {
  return {
    async insert(agent) {
      await db.agent.create({ data: agent });
    },
    async lacking(max) {
      const rows = await query<{ readonly account_id: string; readonly space_id: string }>(sql`
        SELECT held.account_id, held.space_id FROM (
          SELECT account_id, space_id FROM membership WHERE status <> 'removed'
          UNION SELECT account_id, id FROM space WHERE account_id IS NOT NULL
        ) held LEFT JOIN agent a ON a.account_id = held.account_id AND a.space_id = held.space_id AND a.is_default
        WHERE a.id IS NULL LIMIT ${max}`);
      return rows.map(({ account_id, space_id }) => ({ accountId: account_id, spaceId: space_id }));
    },
  };
}
