-- AlterTable
ALTER TABLE "audit_event" ADD COLUMN     "count" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "hash" TEXT,
ADD COLUMN     "outcome" TEXT NOT NULL DEFAULT 'done',
ADD COLUMN     "reason" TEXT,
ADD COLUMN     "seq" INTEGER;

-- AlterTable
ALTER TABLE "membership" ADD COLUMN     "external_id" TEXT;

-- CreateTable
CREATE TABLE "audit_head" (
    "space_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,

    CONSTRAINT "audit_head_pkey" PRIMARY KEY ("space_id")
);

-- CreateTable
CREATE TABLE "export" (
    "id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "requested_by" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "scope" TEXT NOT NULL,
    "filter" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "done" INTEGER NOT NULL DEFAULT 0,
    "total" INTEGER NOT NULL DEFAULT 0,
    "claims" INTEGER NOT NULL DEFAULT 0,
    "fence" INTEGER NOT NULL DEFAULT 0,
    "lease_until" BIGINT,
    "blob_id" TEXT,
    "bytes" BIGINT,
    "sha256" TEXT,
    "error" TEXT,
    "created_at" BIGINT NOT NULL,
    "completed_at" BIGINT,
    "purged_at" BIGINT,

    CONSTRAINT "export_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "export_space_id_account_id_created_at_id_idx" ON "export"("space_id", "account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "export_open" ON "export"("created_at") WHERE (completed_at IS NULL);

-- CreateIndex
CREATE INDEX "export_kept" ON "export"("completed_at") WHERE (status = 'completed' AND purged_at IS NULL);

-- CreateIndex
CREATE INDEX "audit_event_unsealed" ON "audit_event"("space_id", "at", "id") WHERE (seq IS NULL);

-- CreateIndex
CREATE UNIQUE INDEX "audit_event_chain" ON "audit_event"("space_id", "seq") WHERE (seq IS NOT NULL);

-- CreateIndex
CREATE INDEX "membership_space_id_created_at_id_idx" ON "membership"("space_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "membership_held" ON "membership"("delegated_to") WHERE (delegated_to IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "membership_address" ON "membership"("space_id", "email") WHERE (status <> 'removed');

-- CreateIndex
CREATE UNIQUE INDEX "membership_external_id" ON "membership"("space_id", "external_id") WHERE (status <> 'removed' AND external_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "task_present" ON "task"("space_id", "account_id", "created_at", "id") WHERE (deleted_at IS NULL);
