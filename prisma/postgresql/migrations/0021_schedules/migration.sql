-- AlterTable
ALTER TABLE "task" ADD COLUMN     "schedule_id" TEXT;

-- CreateTable
CREATE TABLE "schedule" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT,
    "api_key_id" TEXT,
    "name" TEXT NOT NULL,
    "cron" TEXT,
    "interval_seconds" INTEGER,
    "moment" BIGINT,
    "time_zone" TEXT NOT NULL,
    "anchor_at" BIGINT NOT NULL,
    "template" TEXT NOT NULL,
    "missed" TEXT NOT NULL,
    "overlap" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "pause_reason" TEXT,
    "next_at" BIGINT,
    "last_due_at" BIGINT,
    "queued_at" BIGINT,
    "last_run_at" BIGINT,
    "last_task_id" TEXT,
    "failures" INTEGER NOT NULL,
    "last_error" TEXT,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,

    CONSTRAINT "schedule_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "schedule_space_id_account_id_created_at_id_idx" ON "schedule"("space_id", "account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "schedule_of_app" ON "schedule"("client_id") WHERE (client_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "schedule_due" ON "schedule"("next_at") WHERE (next_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "schedule_queued" ON "schedule"("queued_at") WHERE (queued_at IS NOT NULL);

-- CreateIndex
CREATE INDEX "task_of_schedule" ON "task"("schedule_id", "status") WHERE (schedule_id IS NOT NULL AND deleted_at IS NULL);
