-- DropIndex
DROP INDEX "budget_hold_lease_until_idx";

-- DropIndex
DROP INDEX "oauth_family_refresh_expires_at_idx";

-- DropIndex
DROP INDEX "site_domain_domain_idx";

-- DropIndex
DROP INDEX "skill_client_id_idx";

-- Space in each page for the next version of its rows: without an index of what they change, updates of these tables write to no index.
ALTER TABLE "oauth_family" SET (fillfactor = 80);
ALTER TABLE "usage_day" SET (fillfactor = 80);
