-- Every app so far was registered by a member of a team, or is the command line.
ALTER TABLE "oauth_app" ADD COLUMN "verified" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN "registration_digest" TEXT,
ADD COLUMN "unused_since" BIGINT;

-- CreateIndex
CREATE INDEX "oauth_app_unused_since_idx" ON "oauth_app"("unused_since");

-- Codes and tokens so far are for the API.
ALTER TABLE "oauth_code" ADD COLUMN "resource" TEXT;
ALTER TABLE "oauth_family" ADD COLUMN "resource" TEXT;

-- AlterTable
ALTER TABLE "space" ADD COLUMN "denies_unverified_clients" BOOLEAN NOT NULL DEFAULT false;
