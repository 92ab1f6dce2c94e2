-- AlterTable
ALTER TABLE "account" ADD COLUMN "issuer" TEXT;
ALTER TABLE "account" ADD COLUMN "password" TEXT;
ALTER TABLE "account" ADD COLUMN "subject" TEXT;

-- AlterTable
ALTER TABLE "api_key" ADD COLUMN "used_at" BIGINT;

-- AlterTable
ALTER TABLE "membership" ADD COLUMN "delegated_at" BIGINT;
ALTER TABLE "membership" ADD COLUMN "delegated_to" TEXT;
ALTER TABLE "membership" ADD COLUMN "name" TEXT;
ALTER TABLE "membership" ADD COLUMN "original_email" TEXT;
ALTER TABLE "membership" ADD COLUMN "removed_at" BIGINT;
ALTER TABLE "membership" ADD COLUMN "signed_in_at" BIGINT;

-- CreateTable
CREATE TABLE "session" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "digest" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "proved_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "sign_in_link" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT
);

-- CreateTable
CREATE TABLE "oauth_app" (
    "client_id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "creator_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "redirect_uris" TEXT NOT NULL,
    "homepage_url" TEXT NOT NULL,
    "webhook_url" TEXT,
    "scopes" TEXT NOT NULL,
    "connector_uids" TEXT NOT NULL,
    "skill_ids" TEXT NOT NULL,
    "confidential_only" BOOLEAN NOT NULL,
    "loopback_any_port" BOOLEAN NOT NULL,
    "generation" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "deleted_at" BIGINT
);

-- CreateTable
CREATE TABLE "oauth_secret" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "revoked_at" BIGINT
);

-- CreateTable
CREATE TABLE "oauth_grant" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "connector_uids" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "revoked_at" BIGINT
);

-- CreateTable
CREATE TABLE "oauth_code" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "challenge" TEXT,
    "generation" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT,
    "family_id" TEXT
);

-- CreateTable
CREATE TABLE "oauth_family" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "challenge" TEXT,
    "needs_secret" BOOLEAN NOT NULL,
    "access_id" TEXT,
    "access_expires_at" BIGINT NOT NULL,
    "refresh_digest" TEXT NOT NULL,
    "rotated_digest" TEXT,
    "rotated_at" BIGINT,
    "rotated_from" TEXT,
    "refresh_expires_at" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "revoked_at" BIGINT
);

-- CreateTable
CREATE TABLE "signing_key" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "public_key" TEXT NOT NULL,
    "private_key" BLOB NOT NULL,
    "created_at" BIGINT NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "session_digest_key" ON "session"("digest");

-- CreateIndex
CREATE INDEX "session_account_id_space_id_idx" ON "session"("account_id", "space_id");

-- CreateIndex
CREATE INDEX "session_expires_at_idx" ON "session"("expires_at");

-- CreateIndex
CREATE INDEX "sign_in_link_account_id_idx" ON "sign_in_link"("account_id");

-- CreateIndex
CREATE INDEX "sign_in_link_expires_at_idx" ON "sign_in_link"("expires_at");

-- CreateIndex
CREATE INDEX "oauth_app_space_id_created_at_client_id_idx" ON "oauth_app"("space_id", "created_at", "client_id");

-- CreateIndex
CREATE INDEX "oauth_secret_client_id_idx" ON "oauth_secret"("client_id");

-- CreateIndex
CREATE INDEX "oauth_grant_client_id_idx" ON "oauth_grant"("client_id");

-- CreateIndex
CREATE UNIQUE INDEX "oauth_grant_living" ON "oauth_grant"("space_id", "account_id", "client_id") WHERE revoked_at IS NULL;

-- CreateIndex
CREATE INDEX "oauth_code_grant_id_idx" ON "oauth_code"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_code_expires_at_idx" ON "oauth_code"("expires_at");

-- CreateIndex
CREATE INDEX "oauth_family_grant_id_idx" ON "oauth_family"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_family_refresh_expires_at_idx" ON "oauth_family"("refresh_expires_at");

-- CreateIndex
CREATE INDEX "signing_key_created_at_idx" ON "signing_key"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "account_issuer_subject_key" ON "account"("issuer", "subject");
