-- CreateTable
CREATE TABLE "file" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT,
    "task_id" TEXT,
    "filename" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "blob_id" TEXT,
    "bytes" BIGINT,
    "sha256" TEXT,
    "error" TEXT,
    "created_at" BIGINT NOT NULL,
    "upload_until" BIGINT NOT NULL,
    "expires_at" BIGINT,
    "deleted_at" BIGINT
);

-- CreateTable
CREATE TABLE "blob" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT,
    "state" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "lease_until" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "storage" (
    "account_id" TEXT NOT NULL PRIMARY KEY,
    "bytes" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "file_space_id_account_id_created_at_id_idx" ON "file"("space_id", "account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "file_of_task" ON "file"("task_id") WHERE task_id IS NOT NULL;

-- CreateIndex
CREATE INDEX "file_awaited" ON "file"("upload_until") WHERE status = 'pending';

-- CreateIndex
CREATE INDEX "file_expiring" ON "file"("expires_at") WHERE status = 'uploaded' AND expires_at IS NOT NULL;

-- CreateIndex
CREATE INDEX "file_deleted" ON "file"("deleted_at") WHERE deleted_at IS NOT NULL;

-- CreateIndex
CREATE INDEX "blob_loose" ON "blob"("lease_until") WHERE state <> 'kept';
