-- CreateTable
CREATE TABLE "webhook" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT,
    "url" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "inactive_reason" TEXT,
    "event_types" TEXT NOT NULL,
    "double_hash" BOOLEAN NOT NULL,
    "secret" BLOB NOT NULL,
    "old_secret" BLOB,
    "old_secret_until" BIGINT,
    "created_at" BIGINT NOT NULL,
    "failing_since" BIGINT,
    "failures" INTEGER NOT NULL DEFAULT 0,
    "deleted_at" BIGINT
);

-- CreateTable
CREATE TABLE "webhook_event" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "type" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
);

-- CreateTable
CREATE TABLE "delivery" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "webhook_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "state" TEXT NOT NULL,
    "attempts" INTEGER NOT NULL,
    "next_at" BIGINT,
    "created_at" BIGINT NOT NULL,
    "settled_at" BIGINT
);

-- CreateTable
CREATE TABLE "delivery_attempt" (
    "delivery_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" BIGINT NOT NULL,
    "status" INTEGER,
    "failure" TEXT,
    "latency_ms" INTEGER NOT NULL,
    "response" TEXT,

    PRIMARY KEY ("delivery_id", "number")
);

-- CreateTable
CREATE TABLE "webhook_key" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "algorithm" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "private_key" BLOB NOT NULL,
    "created_at" BIGINT NOT NULL
);

-- CreateIndex
CREATE INDEX "webhook_deleted" ON "webhook"("deleted_at") WHERE deleted_at IS NOT NULL;

-- CreateIndex
CREATE UNIQUE INDEX "webhook_once" ON "webhook"("space_id", "account_id", "url") WHERE client_id IS NULL AND deleted_at IS NULL;

-- CreateIndex
CREATE UNIQUE INDEX "webhook_of_app" ON "webhook"("client_id") WHERE client_id IS NOT NULL AND deleted_at IS NULL;

-- CreateIndex
CREATE INDEX "webhook_event_task_id_idx" ON "webhook_event"("task_id");

-- CreateIndex
CREATE INDEX "webhook_event_created_at_idx" ON "webhook_event"("created_at");

-- CreateIndex
CREATE INDEX "delivery_due" ON "delivery"("webhook_id", "next_at") WHERE state = 'pending';

-- CreateIndex
CREATE INDEX "delivery_webhook_id_created_at_id_idx" ON "delivery"("webhook_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "delivery_task_id_idx" ON "delivery"("task_id");

-- CreateIndex
CREATE INDEX "delivery_created_at_idx" ON "delivery"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "delivery_webhook_id_event_id_key" ON "delivery"("webhook_id", "event_id");

-- CreateIndex
CREATE UNIQUE INDEX "webhook_key_algorithm_key" ON "webhook_key"("algorithm");
