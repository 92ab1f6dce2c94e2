-- AlterTable
ALTER TABLE "account" ADD COLUMN "operator" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "sign_in_link" ADD COLUMN "is_first" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "node" ADD COLUMN "beat_at" BIGINT;

-- CreateIndex
CREATE INDEX "task_failed" ON "task"("updated_at") WHERE status = 'error' AND deleted_at IS NULL;
