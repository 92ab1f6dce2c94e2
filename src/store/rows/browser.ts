import type { Browser, BrowserRows, Lender } from "../../core/browsers/browser.ts";
import type * as Rows from "../../gen/prisma/sqlite/client.ts";
import type { Session } from "../session.ts";
import { numberOf, sql, type Whole } from "../sql.ts";

/** Browsers that are online as rows. */
export function browserRows({ db, query, execute }: Session): BrowserRows {
  return {
    async list(lender) {
      const rows = await db.browser.findMany({ where: ownedBy(lender), orderBy: [{ attachedAt: "asc" }, { id: "asc" }] });
      return rows.map(browserOf);
    },
    async find(lender, id) {
      const row = await db.browser.findFirst({ where: { id, ...ownedBy(lender) } });
      return row && browserOf(row);
    },
    countBeside: (lender, id) => db.browser.count({ where: { ...ownedBy(lender), id: { not: id } } }),
    async put(browser) {
      const { id, spaceId, accountId, nodeId, name, userAgent, attachedAt } = browser;
      const [row] = await query<{ readonly attached_at: Whole }>(sql`
        INSERT INTO browser (id, space_id, account_id, node_id, name, user_agent, attached_at)
        VALUES (${id}, ${spaceId}, ${accountId}, ${nodeId}, ${name}, ${userAgent}, ${attachedAt})
        ON CONFLICT (id) DO UPDATE SET node_id = excluded.node_id, name = excluded.name, user_agent = excluded.user_agent,
          attached_at = CASE WHEN browser.attached_at >= excluded.attached_at THEN browser.attached_at + 1 ELSE excluded.attached_at END
        WHERE browser.space_id = excluded.space_id AND browser.account_id = excluded.account_id
        RETURNING attached_at`);
      return row ? { ...browser, attachedAt: numberOf(row.attached_at) } : null;
    },
    async remove({ id, attachedAt }) {
      await execute(sql`DELETE FROM browser WHERE id = ${id} AND attached_at = ${attachedAt}`);
    },
    async forgetNode(nodeId) {
      await execute(sql`DELETE FROM browser WHERE node_id = ${nodeId}`);
    },
  };
}

const ownedBy = ({ accountId, spaceId }: Lender) => ({ accountId, spaceId });

const browserOf = (row: Rows.Browser): Browser => ({ ...row, attachedAt: numberOf(row.attachedAt) });
