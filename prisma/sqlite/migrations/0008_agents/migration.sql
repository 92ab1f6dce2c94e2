-- CreateTable
CREATE TABLE "worker" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "profiles" TEXT NOT NULL,
    "created_by" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "seen_at" BIGINT,
    "revoked_at" BIGINT
);

-- CreateTable
CREATE TABLE "worker_run" (
    "task_id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "worker_id" TEXT NOT NULL,
    "fence" INTEGER NOT NULL,
    "started_at" BIGINT NOT NULL,
    "lease_until" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "worker_event" (
    "task_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,

    PRIMARY KEY ("task_id", "turn", "key")
);

-- CreateTable
CREATE TABLE "usage_entry" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "task_id" TEXT,
    "client_id" TEXT,
    "project_id" TEXT,
    "profile" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "credits" INTEGER NOT NULL,
    "input_tokens" INTEGER NOT NULL DEFAULT 0,
    "output_tokens" INTEGER NOT NULL DEFAULT 0,
    "tool_calls" INTEGER NOT NULL DEFAULT 0,
    "at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "usage_record" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "task_id" TEXT,
    "kind" TEXT NOT NULL,
    "credits" BIGINT NOT NULL,
    "ahead" INTEGER NOT NULL DEFAULT 0,
    "updated_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "usage_day" (
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "day" INTEGER NOT NULL,
    "credits" BIGINT NOT NULL,

    PRIMARY KEY ("space_id", "account_id", "day")
);

-- CreateTable
CREATE TABLE "budget" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "period" TEXT NOT NULL,
    "credits" BIGINT NOT NULL,
    "spent" BIGINT NOT NULL DEFAULT 0,
    "held" BIGINT NOT NULL DEFAULT 0,
    "since" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "budget_hold" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "task_id" TEXT NOT NULL,
    "fence" INTEGER NOT NULL,
    "budgets" TEXT NOT NULL,
    "credits" INTEGER NOT NULL,
    "lease_until" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "workspace_file" (
    "task_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "blob_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL,

    PRIMARY KEY ("task_id", "path")
);

-- CreateIndex
CREATE UNIQUE INDEX "worker_digest_key" ON "worker"("digest");

-- CreateIndex
CREATE INDEX "worker_space_id_created_at_id_idx" ON "worker"("space_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "worker_run_lease_until_idx" ON "worker_run"("lease_until");

-- CreateIndex
CREATE INDEX "worker_run_worker_id_idx" ON "worker_run"("worker_id");

-- CreateIndex
CREATE INDEX "usage_entry_space_id_at_id_idx" ON "usage_entry"("space_id", "at", "id");

-- CreateIndex
CREATE INDEX "usage_entry_space_id_account_id_at_id_idx" ON "usage_entry"("space_id", "account_id", "at", "id");

-- CreateIndex
CREATE INDEX "usage_entry_task_id_idx" ON "usage_entry"("task_id");

-- CreateIndex
CREATE INDEX "usage_record_space_id_account_id_updated_at_id_idx" ON "usage_record"("space_id", "account_id", "updated_at", "id");

-- CreateIndex
CREATE INDEX "usage_day_space_id_day_idx" ON "usage_day"("space_id", "day");

-- CreateIndex
CREATE UNIQUE INDEX "budget_space_id_kind_subject_period_key" ON "budget"("space_id", "kind", "subject", "period");

-- CreateIndex
CREATE INDEX "budget_hold_task_id_idx" ON "budget_hold"("task_id");

-- CreateIndex
CREATE INDEX "budget_hold_lease_until_idx" ON "budget_hold"("lease_until");
