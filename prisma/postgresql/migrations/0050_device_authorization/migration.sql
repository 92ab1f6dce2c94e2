-- AlterTable
ALTER TABLE "oauth_app" ADD COLUMN "device_authorization" BOOLEAN NOT NULL DEFAULT false;

-- CreateTable
CREATE TABLE "oauth_device" (
    "digest" TEXT NOT NULL,
    "user_digest" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "resource" TEXT,
    "network" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "interval_ms" INTEGER NOT NULL,
    "polled_at" BIGINT,
    "decided_at" BIGINT,
    "account_id" TEXT,
    "space_id" TEXT,
    "grant_id" TEXT,
    "generation" INTEGER,
    "used_at" BIGINT,
    "family_id" TEXT,

    CONSTRAINT "oauth_device_pkey" PRIMARY KEY ("digest")
);

-- CreateIndex
CREATE UNIQUE INDEX "oauth_device_user_digest_idx" ON "oauth_device"("user_digest");

-- CreateIndex
CREATE INDEX "oauth_device_client_id_network_idx" ON "oauth_device"("client_id", "network");

-- CreateIndex
CREATE INDEX "oauth_device_grant_id_idx" ON "oauth_device"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_device_expires_at_idx" ON "oauth_device"("expires_at");

-- The command line signs in on servers, which have no browser.
UPDATE "oauth_app" SET "device_authorization" = true WHERE "client_id" = 'atp-cli';
