import { type Agent, type AgentRows, defaultAgent } from "../../core/agents/agent.ts";
import type { Scope } from "../../core/caller.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import type { Session } from "../session.ts";
import { numberOf, sql } from "../sql.ts";

/** The rows that an id stands for, as far as they are this account's in this space. */
const named = ({ accountId, spaceId }: Pick<Scope, "accountId" | "spaceId">, id: string) => ({
  ...{ accountId, spaceId },
  ...(id === defaultAgent ? { isDefault: true } : { id }),
});

const agentOf = (row: Rows.Agent): Agent => ({ ...row, createdAt: numberOf(row.createdAt) });

/** Agents as rows. */
export function agentRows({ db, query }: Session): AgentRows {
  return {
    async insert(agent) {
      await db.agent.create({ data: agent });
    },
    async list({ accountId, spaceId }) {
      const orderBy = [{ isDefault: "desc" }, { createdAt: "asc" }, { id: "asc" }] as const;
      return (await db.agent.findMany({ where: { accountId, spaceId }, orderBy: [...orderBy] })).map(agentOf);
    },
    async find(scope, id) {
      const row = await db.agent.findFirst({ where: named(scope, id) });
      return row && agentOf(row);
    },
    async update(scope, id, edit) {
      const [row] = await db.agent.updateManyAndReturn({ where: named(scope, id), data: edit });
      return row ? agentOf(row) : null;
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
