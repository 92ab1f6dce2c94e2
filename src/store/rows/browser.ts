import type { BrowserOwner, BrowserRows } from "../../core/browsers/browser.ts";
import type { Session } from "../session.ts";
import { sql } from "../statements.ts";
import { tables } from "../table.ts";

const { browser: shape } = tables;

export function browserRows(session: Session): BrowserRows {
  const { db, execute } = session;
  return {
    async list(owner) {
      const orderBy = [{ attachedAt: "asc" as const }, { id: "asc" as const }];
      return (await (await db()).browser.findMany({ where: ownedBy(owner), orderBy })).map(shape.fromClient);
    },
    async find(owner, id) {
      const row = await (await db()).browser.findFirst({ where: { id, ...ownedBy(owner) } });
      return row && shape.fromClient(row);
    },
    countOthers: async (owner, id) =>
      (await db()).browser.count({ where: { ...ownedBy(owner), id: { not: id } } }),
    put: (browser) =>
      shape.row(session)(sql`
        ${shape.insert(browser)}
        ON CONFLICT (id) DO UPDATE SET node_id = excluded.node_id, name = excluded.name, user_agent = excluded.user_agent,
          attached_at = CASE WHEN browser.attached_at >= excluded.attached_at THEN browser.attached_at + 1 ELSE excluded.attached_at END
        WHERE browser.space_id = excluded.space_id AND browser.account_id = excluded.account_id
        RETURNING ${shape.of("browser")}`),
    async remove({ id, attachedAt }) {
      await execute(sql`DELETE FROM browser WHERE id = ${id} AND attached_at = ${attachedAt}`);
    },
    async deleteOfNode(nodeId) {
      await execute(sql`DELETE FROM browser WHERE node_id = ${nodeId}`);
    },
  };
}

const ownedBy = ({ accountId, spaceId }: BrowserOwner) => ({ accountId, spaceId });
