-- CreateTable
CREATE TABLE "mailed_link" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "browser" TEXT NOT NULL,
    "next" TEXT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT
);

-- CreateIndex
CREATE INDEX "mailed_link_account_id_idx" ON "mailed_link"("account_id");

-- CreateIndex
CREATE INDEX "mailed_link_expires_at_idx" ON "mailed_link"("expires_at");
