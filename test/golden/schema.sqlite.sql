CREATE TABLE "account" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "email" TEXT NOT NULL,
    "name" TEXT,
    "locale" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE UNIQUE INDEX "account_email_key" ON "account"("email")
CREATE TABLE "agent" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "nickname" TEXT NOT NULL,
    "about" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE UNIQUE INDEX "agent_one_default" ON "agent"("space_id", "account_id") WHERE is_default
CREATE UNIQUE INDEX "agent_task_id_key" ON "agent"("task_id")
CREATE TABLE "api_key" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT,
    "revoked_at" BIGINT
)
CREATE INDEX "api_key_account_id_kind_idx" ON "api_key"("account_id", "kind")
CREATE UNIQUE INDEX "api_key_digest_key" ON "api_key"("digest")
CREATE TABLE "audit_event" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "at" BIGINT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "credential" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "request_id" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "subject" TEXT,
    "before" TEXT,
    "after" TEXT
)
CREATE INDEX "audit_event_space_id_at_id_idx" ON "audit_event"("space_id", "at", "id")
CREATE TABLE "idempotency_record" (
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "operation" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "answer" BLOB,
    "subject" TEXT,
    "claimed_at" BIGINT NOT NULL,

    PRIMARY KEY ("account_id", "space_id", "client_id", "operation", "key")
)
CREATE INDEX "idempotency_record_claimed_at_idx" ON "idempotency_record"("claimed_at")
CREATE INDEX "idempotency_record_subject_idx" ON "idempotency_record"("subject")
CREATE TABLE "job" (
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "run_at" BIGINT NOT NULL,

    PRIMARY KEY ("kind", "key")
)
CREATE INDEX "job_kind_run_at_idx" ON "job"("kind", "run_at")
CREATE TABLE "membership" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "team_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    CONSTRAINT "membership_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT "membership_space_id_fkey" FOREIGN KEY ("space_id") REFERENCES "space" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
)
CREATE UNIQUE INDEX "membership_once" ON "membership"("team_id", "account_id") WHERE status <> 'removed'
CREATE UNIQUE INDEX "membership_one_owner" ON "membership"("team_id") WHERE role = 'owner' AND status <> 'removed'
CREATE INDEX "membership_space_id_account_id_idx" ON "membership"("space_id", "account_id")
CREATE TABLE "node" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "beat" INTEGER NOT NULL,
    "started_at" BIGINT NOT NULL
)
CREATE TABLE "pending_action" (
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "variant" TEXT NOT NULL,
    "action_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "input" BLOB,

    PRIMARY KEY ("task_id", "seq")
)
CREATE TABLE "project" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "instruction" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE INDEX "project_space_id_account_id_created_at_id_idx" ON "project"("space_id", "account_id", "created_at", "id")
CREATE TABLE "rate_counter" (
    "key" TEXT NOT NULL,
    "minute" INTEGER NOT NULL,
    "taken" INTEGER NOT NULL,
    "granted" INTEGER NOT NULL,

    PRIMARY KEY ("key", "minute")
)
CREATE INDEX "rate_counter_minute_idx" ON "rate_counter"("minute")
CREATE TABLE "setting" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL
)
CREATE TABLE "space" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "account_id" TEXT,
    "created_at" BIGINT NOT NULL
)
CREATE UNIQUE INDEX "space_account_id_key" ON "space"("account_id")
CREATE TABLE "task" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT,
    "api_key_id" TEXT,
    "project_id" TEXT,
    "type" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "share_visibility" TEXT NOT NULL,
    "hidden" BOOLEAN NOT NULL,
    "agent_profile" TEXT NOT NULL,
    "locale" TEXT NOT NULL,
    "interactive" BOOLEAN NOT NULL,
    "task_references" TEXT NOT NULL,
    "credits" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "last_message_at" BIGINT NOT NULL,
    "last_seq" INTEGER NOT NULL,
    "last_timestamp" BIGINT NOT NULL,
    "message_seq" INTEGER NOT NULL,
    "answered_seq" INTEGER NOT NULL,
    "consumed_seq" INTEGER NOT NULL,
    "fence" INTEGER NOT NULL,
    "node_id" TEXT,
    "claims" INTEGER NOT NULL,
    "idle_claims" INTEGER NOT NULL,
    "queued_at" BIGINT NOT NULL,
    "output_schema" TEXT,
    "deleted_at" BIGINT
, "agent_id" TEXT, "memo" TEXT, "allowed" TEXT NOT NULL DEFAULT '[]', "served_at" BIGINT NOT NULL DEFAULT 0)
CREATE INDEX "task_account_id_served_at_idx" ON "task"("account_id", "served_at")
CREATE INDEX "task_deleted" ON "task"("deleted_at") WHERE deleted_at IS NOT NULL
CREATE INDEX "task_of_agent" ON "task"("agent_id", "created_at", "id") WHERE agent_id IS NOT NULL
CREATE INDEX "task_project_id_created_at_id_idx" ON "task"("project_id", "created_at", "id")
CREATE INDEX "task_running" ON "task"("status", "node_id", "queued_at") WHERE status = 'running'
CREATE INDEX "task_space_id_account_id_created_at_id_idx" ON "task"("space_id", "account_id", "created_at", "id")
CREATE INDEX "task_waiting" ON "task"("account_id", "queued_at", "id") WHERE status = 'running' AND node_id IS NULL
CREATE TABLE "task_event" (
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "timestamp" BIGINT NOT NULL,
    "payload" TEXT NOT NULL,

    PRIMARY KEY ("task_id", "seq")
)
CREATE TABLE "team" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    CONSTRAINT "team_space_id_fkey" FOREIGN KEY ("space_id") REFERENCES "space" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
)
CREATE UNIQUE INDEX "team_name_key" ON "team"("name")
CREATE UNIQUE INDEX "team_space_id_key" ON "team"("space_id")
