-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "last_four" TEXT;

-- AlterTable
ALTER TABLE "webhook" ADD COLUMN     "name" TEXT;

-- CreateTable
CREATE TABLE "worker_failure" (
    "id" TEXT NOT NULL,
    "worker_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "at" BIGINT NOT NULL,

    CONSTRAINT "worker_failure_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "worker_failure_worker_id_at_id_idx" ON "worker_failure"("worker_id", "at", "id");

-- CreateIndex
CREATE INDEX "worker_failure_at_idx" ON "worker_failure"("at");

-- CreateIndex
CREATE INDEX "api_key_space_id_created_at_id_idx" ON "api_key"("space_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "file_uploaded" ON "file"("space_id", "account_id", "created_at", "id") WHERE (task_id IS NULL);

-- CreateIndex
CREATE INDEX "webhook_of_space" ON "webhook"("space_id", "created_at", "id") WHERE (client_id IS NULL AND deleted_at IS NULL);
