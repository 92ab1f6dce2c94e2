-- CreateIndex
CREATE INDEX "task_gone" ON "task"("space_id", "account_id", "deleted_at", "id") WHERE (deleted_at IS NOT NULL);
