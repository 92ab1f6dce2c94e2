-- AlterTable
ALTER TABLE "oauth_app" ADD COLUMN "service_account_id" TEXT;

-- Families so far are of users.
ALTER TABLE "oauth_family" ADD COLUMN "service" BOOLEAN NOT NULL DEFAULT false;
