-- AlterTable
ALTER TABLE "task" ADD COLUMN "latest_status" TEXT;
ALTER TABLE "task" ADD COLUMN "plan_done" INTEGER;
ALTER TABLE "task" ADD COLUMN "plan_total" INTEGER;
ALTER TABLE "task" ADD COLUMN "status_seq" INTEGER;

-- CreateIndex
CREATE INDEX "task_in_project" ON "task"("project_id") WHERE project_id IS NOT NULL AND deleted_at IS NULL;
