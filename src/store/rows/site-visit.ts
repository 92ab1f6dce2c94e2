import type { ViewerRows } from "../../core/websites/viewers.ts";
import type { SiteAudience, SiteVisitRows } from "../../core/websites/visit.ts";
import type { Session } from "../session.ts";
import { inTexts, type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";

const visitor = tables.siteVisit.pick("accountId", "spaceId");

/** The account's membership in the space of the site, with this state. */
const memberWhere = (state: Sql): Sql => sql`
  EXISTS (SELECT 1 FROM membership m WHERE m.space_id = w.space_id AND m.account_id = a.id AND ${state})`;
const isActive = memberWhere(sql`m.status = 'active' AND m.delegated_to IS NULL`);
const isSuspended = memberWhere(
  sql`(m.status = 'inactive' OR (m.status = 'active' AND m.delegated_to IS NOT NULL))`,
);

/**
 * Whether the account `a` may see the website `w`. A suspended member sees nothing of the space, also when
 * listed by address.
 */
const rules: Readonly<Record<SiteAudience, Sql>> = {
  team: isActive,
  private: sql`
    ((a.id = w.account_id AND (${isActive} OR EXISTS (SELECT 1 FROM space s WHERE s.id = w.space_id AND s.account_id = a.id)))
      OR (EXISTS (SELECT 1 FROM website_viewer l WHERE l.website_id = w.id AND l.email = a.email) AND NOT ${isSuspended}))`,
};

/** Tickets and visit cookies of websites as rows. */
export function siteVisitRows(session: Session): SiteVisitRows {
  const { query, execute } = session;
  return {
    async insert(visit) {
      await execute(tables.siteVisit.insert(visit));
    },
    redeem: (digest, websiteId, now) =>
      visitor.row(session)(sql`
        DELETE FROM site_visit WHERE digest = ${digest} AND kind = 'ticket' AND website_id = ${websiteId} AND expires_at > ${now}
        RETURNING ${visitor.of("site_visit")}`),
    async admits(digest, websiteId, audience, now) {
      const rows = await query(sql`
        SELECT 1 AS one FROM site_visit v JOIN website w ON w.id = v.website_id JOIN account a ON a.id = v.account_id
        WHERE v.digest = ${digest} AND v.kind = 'visit' AND v.website_id = ${websiteId} AND v.expires_at > ${now} AND ${rules[audience]}`);
      return rows.length > 0;
    },
    async maySee(accountId, websiteId, audience) {
      const rows = await query(sql`
        SELECT 1 AS one FROM website w JOIN account a ON a.id = ${accountId} WHERE w.id = ${websiteId} AND ${rules[audience]}`);
      return rows.length > 0;
    },
    async purge(before) {
      await execute(sql`DELETE FROM site_visit WHERE expires_at < ${before}`);
    },
  };
}

const viewer = tables.websiteViewer.pick("email", "createdAt");

/** Viewers of private websites as rows. */
export function viewerRows(session: Session): ViewerRows {
  const { dialect, execute } = session;
  return {
    list: (websiteId) =>
      viewer.rows(session)(sql`
        SELECT ${viewer.of("website_viewer")} FROM website_viewer WHERE website_id = ${websiteId} ORDER BY email`),
    async insert(websiteId, viewers) {
      if (viewers.length === 0) return;
      await execute(tables.websiteViewer.insertAll(viewers.map((each) => ({ ...each, websiteId }))));
    },
    async delete(websiteId, emails) {
      await execute(
        sql`DELETE FROM website_viewer WHERE website_id = ${websiteId} AND email ${inTexts(dialect, emails)}`,
      );
    },
    async deleteOfMember({ accountId, spaceId }) {
      await execute(sql`
        DELETE FROM website_viewer WHERE email = (SELECT email FROM account WHERE id = ${accountId})
          AND website_id IN (SELECT id FROM website WHERE space_id = ${spaceId})`);
    },
  };
}
