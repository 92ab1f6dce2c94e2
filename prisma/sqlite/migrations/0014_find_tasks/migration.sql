-- AlterTable
ALTER TABLE "task" ADD COLUMN "metadata" TEXT NOT NULL DEFAULT '{}';

-- CreateIndex
CREATE INDEX "task_updated" ON "task"("space_id", "account_id", "updated_at", "id") WHERE deleted_at IS NULL;

-- CreateIndex
CREATE INDEX "task_status" ON "task"("space_id", "account_id", "status", "created_at", "id") WHERE deleted_at IS NULL;

-- CreateIndex
CREATE INDEX "task_of_app" ON "task"("space_id", "account_id", "client_id", "created_at", "id") WHERE client_id IS NOT NULL AND deleted_at IS NULL;

-- CreateTable
CREATE TABLE "task_metadata" (
    "task_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,

    PRIMARY KEY ("task_id", "key")
);

-- CreateIndex
CREATE INDEX "task_metadata_space_id_account_id_key_value_idx" ON "task_metadata"("space_id", "account_id", "key", "value");

-- AlterTable
ALTER TABLE "webhook" ADD COLUMN "project_id" TEXT;

-- AlterTable
ALTER TABLE "webhook" ADD COLUMN "metadata" TEXT NOT NULL DEFAULT '{}';
