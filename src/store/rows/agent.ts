import type { Scope } from "../../core/accounts/caller.ts";
import { type AgentRows, defaultAgent } from "../../core/agents/agent.ts";
import type { Session } from "../session.ts";
import { sql } from "../statements.ts";
import { tables } from "../table.ts";

const { agent } = tables;
const owner = tables.membership.pick("accountId", "spaceId");

/** The rows with this id, or the default agent, of this account in this space. */
const ofId = ({ accountId, spaceId }: Pick<Scope, "accountId" | "spaceId">, id: string) => ({
  accountId,
  spaceId,
  ...(id === defaultAgent ? { isDefault: true } : { id }),
});

export function agentRows(session: Session): AgentRows {
  const { db, execute } = session;
  return {
    insert: async (row) => void (await execute(agent.insert(row))),
    async list({ accountId, spaceId }) {
      const orderBy = [{ isDefault: "desc" }, { createdAt: "asc" }, { id: "asc" }] as const;
      const rows = await (await db()).agent.findMany({
        where: { accountId, spaceId },
        orderBy: [...orderBy],
      });
      return rows.map(agent.fromClient);
    },
    async find(scope, id) {
      const row = await (await db()).agent.findFirst({ where: ofId(scope, id) });
      return row && agent.fromClient(row);
    },
    async update(scope, id, data) {
      const [row] = await (await db()).agent.updateManyAndReturn({ where: ofId(scope, id), data });
      return row ? agent.fromClient(row) : null;
    },
    withoutDefault: (max) =>
      owner.rows(session)(sql`
        SELECT ${owner.of("held")} FROM (
          SELECT account_id, space_id FROM membership WHERE status <> 'removed'
          UNION SELECT account_id, id FROM space WHERE account_id IS NOT NULL
        ) held LEFT JOIN agent a ON a.account_id = held.account_id AND a.space_id = held.space_id AND a.is_default
        WHERE a.id IS NULL LIMIT ${max}`),
  };
}
