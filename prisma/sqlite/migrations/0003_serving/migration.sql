-- AlterTable
ALTER TABLE "task" ADD COLUMN "served_at" BIGINT NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "task_waiting" ON "task"("account_id", "queued_at", "id") WHERE status = 'running' AND node_id IS NULL;

-- CreateIndex
CREATE INDEX "task_account_id_served_at_idx" ON "task"("account_id", "served_at");
