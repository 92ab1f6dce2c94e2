-- AlterTable
ALTER TABLE "task" ADD COLUMN     "waiting_since" BIGINT NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "task_waits" ON "task"("space_id", "account_id", "waiting_since", "id") WHERE (status = 'waiting' AND deleted_at IS NULL);
