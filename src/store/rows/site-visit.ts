import type { SiteVisitRows } from "../../core/websites/visit.ts";
import type { Session } from "../session.ts";
import { insertInto, sql } from "../sql.ts";

/** Tickets and visits of teams' websites as rows. */
export function siteVisitRows({ query, execute }: Session): SiteVisitRows {
  return {
    async insert({ digest, kind, websiteId, accountId, spaceId, expiresAt }) {
      const row = { digest, kind, website_id: websiteId, account_id: accountId, space_id: spaceId, expires_at: expiresAt };
      await execute(insertInto("site_visit", [row]));
    },
    async redeem(digest, websiteId, now) {
      const [row] = await query<{ readonly account_id: string; readonly space_id: string }>(sql`
        DELETE FROM site_visit WHERE digest = ${digest} AND kind = 'ticket' AND website_id = ${websiteId} AND expires_at > ${now}
        RETURNING account_id, space_id`);
      return row ? { accountId: row.account_id, spaceId: row.space_id } : null;
    },
    async admits(digest, websiteId, now) {
      const rows = await query(sql`
        SELECT 1 AS one FROM site_visit v
        WHERE v.digest = ${digest} AND v.kind = 'visit' AND v.website_id = ${websiteId} AND v.expires_at > ${now}
          AND EXISTS (SELECT 1 FROM membership m WHERE m.space_id = v.space_id AND m.account_id = v.account_id
            AND m.status = 'active' AND m.delegated_to IS NULL)`);
      return rows.length > 0;
    },
    async purge(before) {
      await execute(sql`DELETE FROM site_visit WHERE expires_at < ${before}`);
    },
  };
}
