-- DropIndex
DROP INDEX "budget_hold_lease_until_idx";

-- DropIndex
DROP INDEX "oauth_family_refresh_expires_at_idx";

-- DropIndex
DROP INDEX "site_domain_domain_idx";

-- DropIndex
DROP INDEX "skill_client_id_idx";
