-- CreateTable
CREATE TABLE "passkey" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "user_handle" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "counter" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "used_at" BIGINT,

    CONSTRAINT "passkey_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "authenticator" (
    "account_id" TEXT NOT NULL,
    "secret" BYTEA NOT NULL,
    "last_step" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,

    CONSTRAINT "authenticator_pkey" PRIMARY KEY ("account_id")
);

-- CreateTable
CREATE TABLE "recovery_code" (
    "digest" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,

    CONSTRAINT "recovery_code_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "spent_ticket" (
    "digest" TEXT NOT NULL,
    "expires_at" BIGINT NOT NULL,

    CONSTRAINT "spent_ticket_pkey" PRIMARY KEY ("digest")
);

-- CreateIndex
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id");

-- CreateIndex
CREATE INDEX "passkey_account_id_idx" ON "passkey"("account_id");

-- CreateIndex
CREATE INDEX "recovery_code_account_id_idx" ON "recovery_code"("account_id");

-- CreateIndex
CREATE INDEX "spent_ticket_expires_at_idx" ON "spent_ticket"("expires_at");
