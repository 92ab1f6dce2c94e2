-- CreateTable
CREATE TABLE "website_viewer" (
    "website_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,

    PRIMARY KEY ("website_id", "email")
);

-- CreateTable
CREATE TABLE "site_domain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "domain" TEXT NOT NULL,
    "website_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "verified_at" BIGINT,
    "checked_at" BIGINT,
    "next_check_at" BIGINT,
    "failures" INTEGER NOT NULL DEFAULT 0
);

-- CreateIndex
CREATE INDEX "site_domain_domain_idx" ON "site_domain"("domain");

-- CreateIndex
CREATE INDEX "site_domain_website_id_created_at_idx" ON "site_domain"("website_id", "created_at");

-- CreateIndex
CREATE INDEX "site_domain_due" ON "site_domain"("next_check_at") WHERE next_check_at IS NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "site_domain_space_id_domain_key" ON "site_domain"("space_id", "domain");

-- CreateIndex
CREATE UNIQUE INDEX "site_domain_active" ON "site_domain"("domain") WHERE status = 'active';
