-- CreateTable
CREATE TABLE "passkey" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "user_handle" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "counter" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "used_at" BIGINT
);

-- CreateTable
CREATE TABLE "authenticator" (
    "account_id" TEXT NOT NULL PRIMARY KEY,
    "secret" BLOB NOT NULL,
    "last_step" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "recovery_code" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "spent_ticket" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "expires_at" BIGINT NOT NULL
);

-- CreateIndex
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");

-- CreateIndex
CREATE INDEX "passkey_account_id_idx" ON "passkey"("account_id");

-- CreateIndex
CREATE INDEX "recovery_code_account_id_idx" ON "recovery_code"("account_id");

-- CreateIndex
CREATE INDEX "spent_ticket_expires_at_idx" ON "spent_ticket"("expires_at");
