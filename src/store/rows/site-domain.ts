import type { DomainRows } from "../../core/websites/domain.ts";
import type { Session } from "../session.ts";
import { inTexts, join, type Sql, sql } from "../statements.ts";
import { tables } from "../table.ts";

const { siteDomain } = tables;
const siteOfDomain = siteDomain.pick("websiteId");
const activeDomain = siteDomain.pick("websiteId", "domain");

/** The failed check that makes a domain inactive. */
const failuresMax = 3;

/** Custom domains of websites as rows. */
export function domainRows(session: Session): DomainRows {
  const { dialect, execute } = session;
  const all = (where: Sql) =>
    siteDomain.rows(session)(sql`SELECT ${siteDomain.of("site_domain")} FROM site_domain WHERE ${where}`);
  return {
    list: (websiteId) => all(sql`website_id = ${websiteId} ORDER BY created_at, id`),
    find: async (websiteId, domain) =>
      (await all(sql`website_id = ${websiteId} AND domain = ${domain}`))[0] ?? null,
    ofSpace: (spaceId) => all(sql`space_id = ${spaceId}`),
    async insert(domain) {
      await execute(siteDomain.insert(domain));
    },
    // Of two changes at the same time, the unique index on active domains refuses the second one, which then
    // runs again.
    async activate(id, now, nextCheckAt) {
      const active = siteDomain.set({ status: "active", checkedAt: now, nextCheckAt, failures: 0 });
      const count = await execute(sql`
        UPDATE site_domain SET ${join(active)}, verified_at = CASE WHEN status = 'active' THEN verified_at ELSE ${now} END
        WHERE id = ${id} AND NOT EXISTS (
          SELECT 1 FROM site_domain other WHERE other.domain = site_domain.domain AND other.status = 'active' AND other.id <> ${id})`);
      return count === 1;
    },
    delete: async (websiteId, domain) =>
      (await execute(sql`DELETE FROM site_domain WHERE website_id = ${websiteId} AND domain = ${domain}`)) ===
      1,
    async deleteOfMember({ accountId, spaceId }) {
      await execute(sql`DELETE FROM site_domain WHERE space_id = ${spaceId} AND account_id = ${accountId}`);
    },
    active: (websiteIds) =>
      activeDomain.rows(session)(sql`
        SELECT ${activeDomain.of("site_domain")} FROM site_domain
        WHERE website_id ${inTexts(dialect, websiteIds)} AND status = 'active' ORDER BY verified_at, id`),
    async siteOf(domain) {
      const row = await siteOfDomain.row(session)(sql`
        SELECT ${siteOfDomain.of("site_domain")} FROM site_domain WHERE domain = ${domain} AND status = 'active'`);
      return row?.websiteId ?? null;
    },
    listDue: (now, limit) => all(sql`next_check_at <= ${now} ORDER BY next_check_at, id LIMIT ${limit}`),
    async claimCheck({ id, nextCheckAt }, next) {
      const count = await execute(sql`
        UPDATE site_domain SET next_check_at = ${next} WHERE id = ${id} AND next_check_at = ${nextCheckAt}`);
      return count === 1;
    },
    async keep(id, now) {
      await execute(
        sql`UPDATE site_domain SET checked_at = ${now}, failures = 0 WHERE id = ${id} AND status = 'active'`,
      );
    },
    async countFailure(id, claimed, now) {
      await execute(sql`
        UPDATE site_domain SET checked_at = ${now}, failures = failures + 1,
          status = CASE WHEN failures + 1 < ${failuresMax} THEN status ELSE 'inactive' END,
          next_check_at = CASE WHEN failures + 1 < ${failuresMax} THEN next_check_at ELSE NULL END
        WHERE id = ${id} AND next_check_at = ${claimed}`);
    },
  };
}
