CREATE TABLE "account" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "email" TEXT NOT NULL,
    "name" TEXT,
    "locale" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
, "issuer" TEXT, "password" TEXT, "subject" TEXT, "operator" BOOLEAN NOT NULL DEFAULT false)
CREATE UNIQUE INDEX "account_email_key" ON "account"("email")
CREATE UNIQUE INDEX "account_issuer_subject_key" ON "account"("issuer", "subject")
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
CREATE TABLE "agent_profile" (
    "space_id" TEXT NOT NULL,
    "profile" TEXT NOT NULL,
    "title" TEXT,
    "description" TEXT,
    "concurrency" INTEGER,
    "time_limit" INTEGER,
    "updated_at" BIGINT NOT NULL, "fetch_mode" TEXT, "fetch_hosts" TEXT, "permissions" TEXT NOT NULL DEFAULT '[]',

    PRIMARY KEY ("space_id", "profile")
)
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
, "used_at" BIGINT, "last_four" TEXT, "address_ranges" TEXT, "project_ids" TEXT, "scopes" TEXT)
CREATE INDEX "api_key_account_id_kind_idx" ON "api_key"("account_id", "kind")
CREATE UNIQUE INDEX "api_key_digest_key" ON "api_key"("digest")
CREATE INDEX "api_key_space_id_created_at_id_idx" ON "api_key"("space_id", "created_at", "id")
CREATE TABLE "audit_anchor" (
    "space_id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "removed_at" BIGINT NOT NULL
)
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
, "outcome" TEXT NOT NULL DEFAULT 'done', "reason" TEXT, "count" INTEGER NOT NULL DEFAULT 1, "seq" INTEGER, "hash" TEXT)
CREATE UNIQUE INDEX "audit_event_chain" ON "audit_event"("space_id", "seq") WHERE seq IS NOT NULL
CREATE INDEX "audit_event_space_id_at_id_idx" ON "audit_event"("space_id", "at", "id")
CREATE INDEX "audit_event_unsealed" ON "audit_event"("space_id", "at", "id") WHERE seq IS NULL
CREATE TABLE "audit_head" (
    "space_id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL
)
CREATE TABLE "authenticator" (
    "account_id" TEXT NOT NULL PRIMARY KEY,
    "secret" BLOB NOT NULL,
    "last_step" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE TABLE "blob" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT,
    "state" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "lease_until" BIGINT NOT NULL
, "refs" INTEGER NOT NULL DEFAULT 1)
CREATE INDEX "blob_loose" ON "blob"("lease_until") WHERE state <> 'kept'
CREATE TABLE "browser" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "node_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,
    "attached_at" BIGINT NOT NULL
)
CREATE INDEX "browser_node_id_idx" ON "browser"("node_id")
CREATE INDEX "browser_space_id_account_id_idx" ON "browser"("space_id", "account_id")
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
)
CREATE UNIQUE INDEX "budget_space_id_kind_subject_period_key" ON "budget"("space_id", "kind", "subject", "period")
CREATE TABLE "budget_hold" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "task_id" TEXT NOT NULL,
    "fence" INTEGER NOT NULL,
    "budgets" TEXT NOT NULL,
    "credits" INTEGER NOT NULL,
    "lease_until" BIGINT NOT NULL
)
CREATE INDEX "budget_hold_task_id_idx" ON "budget_hold"("task_id")
CREATE TABLE "checkpoint" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "website_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE INDEX "checkpoint_website_id_created_at_id_idx" ON "checkpoint"("website_id", "created_at", "id")
CREATE TABLE "checkpoint_file" (
    "checkpoint_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "blob_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,

    PRIMARY KEY ("checkpoint_id", "path")
)
CREATE INDEX "checkpoint_file_blob_id_idx" ON "checkpoint_file"("blob_id")
CREATE TABLE "connector" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT,
    "uid" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "category" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "server" TEXT NOT NULL,
    "credentials" BLOB,
    "state" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL,
    "tools" TEXT NOT NULL DEFAULT '[]',
    "tools_at" BIGINT,
    "policy" TEXT NOT NULL DEFAULT '{}',
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "deleted_at" BIGINT
)
CREATE UNIQUE INDEX "connector_of_space_once" ON "connector"("space_id", "uid") WHERE deleted_at IS NULL AND account_id IS NULL
CREATE UNIQUE INDEX "connector_once" ON "connector"("space_id", "account_id", "uid") WHERE deleted_at IS NULL AND account_id IS NOT NULL
CREATE INDEX "connector_space_id_account_id_created_at_id_idx" ON "connector"("space_id", "account_id", "created_at", "id")
CREATE TABLE "connector_authorization" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "connector_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "sealed" BLOB NOT NULL,
    "expires_at" BIGINT NOT NULL
)
CREATE INDEX "connector_authorization_expires_at_idx" ON "connector_authorization"("expires_at")
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
)
CREATE INDEX "delivery_created_at_idx" ON "delivery"("created_at")
CREATE INDEX "delivery_due" ON "delivery"("webhook_id", "next_at") WHERE state = 'pending'
CREATE INDEX "delivery_task_id_idx" ON "delivery"("task_id")
CREATE INDEX "delivery_webhook_id_created_at_id_idx" ON "delivery"("webhook_id", "created_at", "id")
CREATE UNIQUE INDEX "delivery_webhook_id_event_id_key" ON "delivery"("webhook_id", "event_id")
CREATE TABLE "delivery_attempt" (
    "delivery_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" BIGINT NOT NULL,
    "status" INTEGER,
    "failure" TEXT,
    "latency_ms" INTEGER NOT NULL,
    "response" TEXT,

    PRIMARY KEY ("delivery_id", "number")
)
CREATE TABLE "erasure" (
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "completed_at" BIGINT,

    PRIMARY KEY ("kind", "subject")
)
CREATE INDEX "erasure_open" ON "erasure"("created_at") WHERE completed_at IS NULL
CREATE TABLE "event_segment" (
    "task_id" TEXT NOT NULL,
    "first_seq" INTEGER NOT NULL,
    "last_seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "events" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "data_key" BLOB NOT NULL,
    "blob_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,

    PRIMARY KEY ("task_id", "first_seq")
)
CREATE TABLE "export" (
    "id" TEXT NOT NULL PRIMARY KEY,
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
    "purged_at" BIGINT
, "kind" TEXT NOT NULL DEFAULT 'data', "event_count" BIGINT)
CREATE UNIQUE INDEX "export_compliance_once" ON "export"("space_id") WHERE kind = 'compliance' AND completed_at IS NULL
CREATE INDEX "export_kept" ON "export"("completed_at") WHERE status = 'completed' AND purged_at IS NULL
CREATE INDEX "export_open" ON "export"("created_at") WHERE completed_at IS NULL
CREATE INDEX "export_space_id_account_id_created_at_id_idx" ON "export"("space_id", "account_id", "created_at", "id")
CREATE TABLE "file" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT,
    "task_id" TEXT,
    "filename" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "blob_id" TEXT,
    "bytes" BIGINT,
    "sha256" TEXT,
    "error" TEXT,
    "created_at" BIGINT NOT NULL,
    "upload_until" BIGINT NOT NULL,
    "expires_at" BIGINT,
    "deleted_at" BIGINT
, "api_key_id" TEXT)
CREATE INDEX "file_awaited" ON "file"("upload_until") WHERE status = 'pending'
CREATE INDEX "file_deleted" ON "file"("deleted_at") WHERE deleted_at IS NOT NULL
CREATE INDEX "file_expiring" ON "file"("expires_at") WHERE status = 'uploaded' AND expires_at IS NOT NULL
CREATE INDEX "file_of_task" ON "file"("task_id") WHERE task_id IS NOT NULL
CREATE INDEX "file_space_id_account_id_created_at_id_idx" ON "file"("space_id", "account_id", "created_at", "id")
CREATE INDEX "file_uploaded" ON "file"("space_id", "account_id", "created_at", "id") WHERE task_id IS NULL
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
CREATE TABLE "imported_object" (
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "origin" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "source_id" TEXT NOT NULL,
    "local_id" TEXT NOT NULL,
    "complete" BOOLEAN NOT NULL,
    "seq" INTEGER NOT NULL,
    "task_id" TEXT,
    "created_at" BIGINT NOT NULL,

    PRIMARY KEY ("space_id", "account_id", "origin", "kind", "source_id")
)
CREATE INDEX "imported_object_missing" ON "imported_object"("task_id", "seq") WHERE task_id IS NOT NULL AND NOT complete
CREATE TABLE "job" (
    "kind" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "run_at" BIGINT NOT NULL,

    PRIMARY KEY ("kind", "key")
)
CREATE INDEX "job_kind_run_at_idx" ON "job"("kind", "run_at")
CREATE TABLE "legal_hold" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE INDEX "legal_hold_kind_subject_idx" ON "legal_hold"("kind", "subject")
CREATE TABLE "listener_event" (
    "listener_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "event_id" TEXT NOT NULL,

    PRIMARY KEY ("listener_id", "position")
)
CREATE TABLE "mailed_link" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "browser" TEXT NOT NULL,
    "next" TEXT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT
)
CREATE INDEX "mailed_link_account_id_idx" ON "mailed_link"("account_id")
CREATE INDEX "mailed_link_expires_at_idx" ON "mailed_link"("expires_at")
CREATE TABLE "membership" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "team_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "role" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL, "delegated_at" BIGINT, "delegated_to" TEXT, "name" TEXT, "original_email" TEXT, "removed_at" BIGINT, "signed_in_at" BIGINT, "external_id" TEXT,
    CONSTRAINT "membership_team_id_fkey" FOREIGN KEY ("team_id") REFERENCES "team" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT,
    CONSTRAINT "membership_space_id_fkey" FOREIGN KEY ("space_id") REFERENCES "space" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
)
CREATE UNIQUE INDEX "membership_address" ON "membership"("space_id", "email") WHERE status <> 'removed'
CREATE UNIQUE INDEX "membership_external_id" ON "membership"("space_id", "external_id") WHERE status <> 'removed' AND external_id IS NOT NULL
CREATE INDEX "membership_held" ON "membership"("delegated_to") WHERE delegated_to IS NOT NULL
CREATE UNIQUE INDEX "membership_once" ON "membership"("team_id", "account_id") WHERE status <> 'removed'
CREATE UNIQUE INDEX "membership_one_owner" ON "membership"("team_id") WHERE role = 'owner' AND status <> 'removed'
CREATE INDEX "membership_space_id_account_id_idx" ON "membership"("space_id", "account_id")
CREATE INDEX "membership_space_id_created_at_id_idx" ON "membership"("space_id", "created_at", "id")
CREATE TABLE "model" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "entry" TEXT NOT NULL,
    "secrets" BLOB,
    "key_end" TEXT,
    "price" TEXT,
    "profiles" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL
)
CREATE TABLE "node" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "beat" INTEGER NOT NULL,
    "started_at" BIGINT NOT NULL
, "address" TEXT, "beat_at" BIGINT, "process_id" TEXT)
CREATE TABLE "oauth_app" (
    "client_id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "creator_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "redirect_uris" TEXT NOT NULL,
    "homepage_url" TEXT NOT NULL,
    "webhook_url" TEXT,
    "scopes" TEXT NOT NULL,
    "connector_uids" TEXT NOT NULL,
    "skill_ids" TEXT NOT NULL,
    "confidential_only" BOOLEAN NOT NULL,
    "loopback_any_port" BOOLEAN NOT NULL,
    "generation" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "deleted_at" BIGINT
, "verified" BOOLEAN NOT NULL DEFAULT true, "registration_digest" TEXT, "unused_since" BIGINT, "device_authorization" BOOLEAN NOT NULL DEFAULT false, "service_account_id" TEXT)
CREATE INDEX "oauth_app_space_id_created_at_client_id_idx" ON "oauth_app"("space_id", "created_at", "client_id")
CREATE INDEX "oauth_app_unused_since_idx" ON "oauth_app"("unused_since")
CREATE TABLE "oauth_app_origin" (
    "client_id" TEXT NOT NULL,
    "origin" TEXT NOT NULL,

    PRIMARY KEY ("client_id", "origin")
)
CREATE INDEX "oauth_app_origin_origin_idx" ON "oauth_app_origin"("origin")
CREATE TABLE "oauth_code" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "redirect_uri" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "challenge" TEXT,
    "generation" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT,
    "family_id" TEXT
, "resource" TEXT)
CREATE INDEX "oauth_code_expires_at_idx" ON "oauth_code"("expires_at")
CREATE INDEX "oauth_code_grant_id_idx" ON "oauth_code"("grant_id")
CREATE TABLE "oauth_device" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "user_digest" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "resource" TEXT,
    "network" TEXT NOT NULL,
    "address" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "interval_ms" INTEGER NOT NULL,
    "polled_at" BIGINT,
    "decided_at" BIGINT,
    "account_id" TEXT,
    "space_id" TEXT,
    "grant_id" TEXT,
    "generation" INTEGER,
    "used_at" BIGINT,
    "family_id" TEXT
)
CREATE INDEX "oauth_device_client_id_network_idx" ON "oauth_device"("client_id", "network")
CREATE INDEX "oauth_device_expires_at_idx" ON "oauth_device"("expires_at")
CREATE INDEX "oauth_device_grant_id_idx" ON "oauth_device"("grant_id")
CREATE UNIQUE INDEX "oauth_device_user_digest_idx" ON "oauth_device"("user_digest")
CREATE TABLE "oauth_family" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "grant_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "challenge" TEXT,
    "needs_secret" BOOLEAN NOT NULL,
    "access_id" TEXT,
    "access_expires_at" BIGINT NOT NULL,
    "refresh_digest" TEXT NOT NULL,
    "rotated_digest" TEXT,
    "rotated_at" BIGINT,
    "rotated_from" TEXT,
    "refresh_expires_at" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "revoked_at" BIGINT
, "resource" TEXT, "service" BOOLEAN NOT NULL DEFAULT false)
CREATE INDEX "oauth_family_grant_id_idx" ON "oauth_family"("grant_id")
CREATE TABLE "oauth_grant" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "scopes" TEXT NOT NULL,
    "connector_uids" TEXT NOT NULL,
    "generation" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "revoked_at" BIGINT
)
CREATE INDEX "oauth_grant_client_id_idx" ON "oauth_grant"("client_id")
CREATE UNIQUE INDEX "oauth_grant_living" ON "oauth_grant"("space_id", "account_id", "client_id") WHERE revoked_at IS NULL
CREATE TABLE "oauth_secret" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "client_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,
    "last4" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "revoked_at" BIGINT
)
CREATE INDEX "oauth_secret_client_id_idx" ON "oauth_secret"("client_id")
CREATE TABLE "parent_task" (
    "task_id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "look_at" BIGINT,
    "stop_turn" INTEGER NOT NULL DEFAULT 0
)
CREATE INDEX "parent_task_due" ON "parent_task"("look_at") WHERE look_at IS NOT NULL
CREATE TABLE "passkey" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "credential_id" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "user_handle" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "counter" BIGINT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "used_at" BIGINT
)
CREATE INDEX "passkey_account_id_idx" ON "passkey"("account_id")
CREATE UNIQUE INDEX "passkey_credential_id_key" ON "passkey"("credential_id")
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
CREATE TABLE "process_keys" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "keys" TEXT NOT NULL,
    "renewed_at" BIGINT NOT NULL
, "host" TEXT, "memory_bytes" BIGINT, "pid" INTEGER, "role" TEXT, "started_at" BIGINT, "version" TEXT)
CREATE TABLE "profile_label" (
    "profile" TEXT NOT NULL,
    "label" TEXT NOT NULL,

    PRIMARY KEY ("profile", "label")
)
CREATE TABLE "project" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "instruction" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
, "deleted_at" BIGINT, "permissions" TEXT NOT NULL DEFAULT '[]')
CREATE INDEX "project_deleted" ON "project"("deleted_at") WHERE deleted_at IS NOT NULL
CREATE INDEX "project_space_id_account_id_created_at_id_idx" ON "project"("space_id", "account_id", "created_at", "id")
CREATE TABLE "project_connector" (
    "project_id" TEXT NOT NULL,
    "uid" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,

    PRIMARY KEY ("project_id", "uid")
)
CREATE TABLE "push_config" (
    "task_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "config_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "secrets" BLOB,
    "has_events" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL,
    "sent_seq" INTEGER NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" BIGINT NOT NULL,
    "claim" TEXT,
    "last_error" TEXT,
    "created_at" BIGINT NOT NULL, "api_key_id" TEXT,

    PRIMARY KEY ("task_id", "client_id", "config_id")
)
CREATE INDEX "push_config_due" ON "push_config"("next_at") WHERE state = 'active'
CREATE INDEX "push_config_of_account" ON "push_config"("account_id", "space_id", "created_at")
CREATE TABLE "rate_counter" (
    "key" TEXT NOT NULL,
    "minute" INTEGER NOT NULL,
    "taken" INTEGER NOT NULL,
    "granted" INTEGER NOT NULL,

    PRIMARY KEY ("key", "minute")
)
CREATE INDEX "rate_counter_minute_idx" ON "rate_counter"("minute")
CREATE TABLE "recovery_code" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE INDEX "recovery_code_account_id_idx" ON "recovery_code"("account_id")
CREATE TABLE "running_task" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "agent_profile" TEXT NOT NULL,
    "queued_at" BIGINT NOT NULL,
    "claimed_at" BIGINT NOT NULL,
    "node_id" TEXT,
    "wants_node" TEXT,
    "turn_until" BIGINT
) WITHOUT ROWID
CREATE INDEX "running_task_node" ON "running_task"("node_id") WHERE node_id IS NOT NULL
CREATE INDEX "running_task_profile" ON "running_task"("space_id", "agent_profile") WHERE node_id IS NOT NULL
CREATE INDEX "running_task_queue" ON "running_task"("account_id", "queued_at", "id") WHERE node_id IS NULL
CREATE INDEX "running_task_run" ON "running_task"("account_id", "space_id") WHERE node_id IS NOT NULL
CREATE INDEX "running_task_turn" ON "running_task"("turn_until") WHERE turn_until IS NOT NULL
CREATE TABLE "schedule" (
    "id" TEXT NOT NULL PRIMARY KEY,
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
    "updated_at" BIGINT NOT NULL
)
CREATE INDEX "schedule_due" ON "schedule"("next_at") WHERE next_at IS NOT NULL
CREATE INDEX "schedule_of_app" ON "schedule"("client_id") WHERE client_id IS NOT NULL
CREATE INDEX "schedule_queued" ON "schedule"("queued_at") WHERE queued_at IS NOT NULL
CREATE INDEX "schedule_space_id_account_id_created_at_id_idx" ON "schedule"("space_id", "account_id", "created_at", "id")
CREATE TABLE "session" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "digest" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "proved_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL
)
CREATE INDEX "session_account_id_space_id_idx" ON "session"("account_id", "space_id")
CREATE UNIQUE INDEX "session_digest_key" ON "session"("digest")
CREATE INDEX "session_expires_at_idx" ON "session"("expires_at")
CREATE TABLE "setting" (
    "key" TEXT NOT NULL PRIMARY KEY,
    "value" TEXT NOT NULL
)
CREATE TABLE "sign_in_link" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "used_at" BIGINT
, "is_first" BOOLEAN NOT NULL DEFAULT false)
CREATE INDEX "sign_in_link_account_id_idx" ON "sign_in_link"("account_id")
CREATE INDEX "sign_in_link_expires_at_idx" ON "sign_in_link"("expires_at")
CREATE TABLE "signing_key" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "public_key" TEXT NOT NULL,
    "private_key" BLOB NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE INDEX "signing_key_created_at_idx" ON "signing_key"("created_at")
CREATE TABLE "site_domain" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "domain" TEXT NOT NULL,
    "website_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "verified_at" BIGINT,
    "checked_at" BIGINT,
    "next_check_at" BIGINT,
    "failures" INTEGER NOT NULL DEFAULT 0
)
CREATE UNIQUE INDEX "site_domain_active" ON "site_domain"("domain") WHERE status = 'active'
CREATE INDEX "site_domain_due" ON "site_domain"("next_check_at") WHERE next_check_at IS NOT NULL
CREATE UNIQUE INDEX "site_domain_space_id_domain_key" ON "site_domain"("space_id", "domain")
CREATE INDEX "site_domain_website_id_created_at_idx" ON "site_domain"("website_id", "created_at")
CREATE TABLE "site_visit" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "website_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "expires_at" BIGINT NOT NULL
)
CREATE INDEX "site_visit_expires_at_idx" ON "site_visit"("expires_at")
CREATE TABLE "skill" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "owner_type" TEXT NOT NULL,
    "space_id" TEXT,
    "account_id" TEXT,
    "project_id" TEXT,
    "client_id" TEXT,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL DEFAULT true,
    "blob_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "deleted_at" BIGINT
)
CREATE INDEX "skill_owner_type_idx" ON "skill"("owner_type")
CREATE INDEX "skill_project_id_idx" ON "skill"("project_id")
CREATE INDEX "skill_space_id_account_id_created_at_id_idx" ON "skill"("space_id", "account_id", "created_at", "id")
CREATE TABLE "skill_choice" (
    "skill_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,

    PRIMARY KEY ("account_id", "space_id", "skill_id")
)
CREATE INDEX "skill_choice_skill_id_idx" ON "skill_choice"("skill_id")
CREATE TABLE "space" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "kind" TEXT NOT NULL,
    "account_id" TEXT,
    "created_at" BIGINT NOT NULL
, "denies_unverified_clients" BOOLEAN NOT NULL DEFAULT false)
CREATE UNIQUE INDEX "space_account_id_key" ON "space"("account_id")
CREATE TABLE "spent_ticket" (
    "digest" TEXT NOT NULL PRIMARY KEY,
    "expires_at" BIGINT NOT NULL
)
CREATE INDEX "spent_ticket_expires_at_idx" ON "spent_ticket"("expires_at")
CREATE TABLE "storage" (
    "account_id" TEXT NOT NULL PRIMARY KEY,
    "bytes" BIGINT NOT NULL
)
CREATE TABLE "subtask_wait" (
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "mode" TEXT NOT NULL,
    "subtasks" TEXT NOT NULL,
    "until" BIGINT,
    "reason" TEXT,
    "ends" TEXT,

    PRIMARY KEY ("task_id", "seq")
)
CREATE TRIGGER "task_runs_deleted" AFTER DELETE ON "task" WHEN old.status = 'running' BEGIN
    DELETE FROM running_task WHERE id = old.id;
END
CREATE TRIGGER "task_runs_inserted" AFTER INSERT ON "task" WHEN new.status = 'running' AND new.deleted_at IS NULL BEGIN
    INSERT INTO running_task (id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until)
    VALUES (new.id, new.space_id, new.account_id, new.agent_profile, new.queued_at, new.claimed_at, new.node_id, new.wants_node, new.turn_until);
END
CREATE TRIGGER "task_runs_updated" AFTER UPDATE ON "task" WHEN (old.status = 'running' OR new.status = 'running')
    AND (old.status <> new.status OR old.queued_at <> new.queued_at OR old.claimed_at <> new.claimed_at
    OR old.agent_profile <> new.agent_profile OR old.node_id IS NOT new.node_id OR old.wants_node IS NOT new.wants_node
    OR old.turn_until IS NOT new.turn_until OR old.deleted_at IS NOT new.deleted_at) BEGIN
    DELETE FROM running_task WHERE id = old.id AND (new.status <> 'running' OR new.deleted_at IS NOT NULL);
    INSERT INTO running_task (id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until)
    SELECT new.id, new.space_id, new.account_id, new.agent_profile, new.queued_at, new.claimed_at, new.node_id, new.wants_node, new.turn_until
    WHERE new.status = 'running' AND new.deleted_at IS NULL
    ON CONFLICT (id) DO UPDATE SET agent_profile = excluded.agent_profile, queued_at = excluded.queued_at, claimed_at = excluded.claimed_at,
        node_id = excluded.node_id, wants_node = excluded.wants_node, turn_until = excluded.turn_until;
END
CREATE TRIGGER "task_texts_behind" AFTER UPDATE ON "task" WHEN new.indexed_seq < new.last_seq AND NOT new.texts_behind BEGIN
    UPDATE task SET texts_behind = true WHERE id = new.id;
END
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
, "agent_id" TEXT, "memo" TEXT, "allowed" TEXT NOT NULL DEFAULT '[]', "served_at" BIGINT NOT NULL DEFAULT 0, "wants_node" TEXT, "max_visibility" TEXT, "share_changed_at" BIGINT, "shared_at" BIGINT, "metadata" TEXT NOT NULL DEFAULT '{}', "indexed_seq" INTEGER NOT NULL DEFAULT -1, "latest_status" TEXT, "plan_done" INTEGER, "plan_total" INTEGER, "status_seq" INTEGER, "schedule_id" TEXT, "turn_until" BIGINT, "parent_id" TEXT, "root_id" TEXT, "depth" INTEGER NOT NULL DEFAULT 0, "parent_turn" INTEGER NOT NULL DEFAULT 0, "subtasks" INTEGER NOT NULL DEFAULT 0, "imported_from" TEXT, "traceparent" TEXT, "waiting_since" BIGINT NOT NULL DEFAULT 0, "claimed_at" BIGINT NOT NULL DEFAULT 0, "texts_behind" BOOLEAN NOT NULL DEFAULT true, "touched_at" BIGINT NOT NULL DEFAULT 0, "turn_request" TEXT, "permissions" TEXT NOT NULL DEFAULT '[]', "untrusted" BOOLEAN NOT NULL DEFAULT false, "read_seq" INTEGER NOT NULL DEFAULT 0)
CREATE INDEX "task_account_id_served_at_idx" ON "task"("account_id", "served_at")
CREATE INDEX "task_deleted" ON "task"("deleted_at") WHERE deleted_at IS NOT NULL
CREATE INDEX "task_failed" ON "task"("updated_at") WHERE status = 'error' AND deleted_at IS NULL
CREATE INDEX "task_gone" ON "task"("space_id", "account_id", "deleted_at", "id") WHERE deleted_at IS NOT NULL
CREATE INDEX "task_in_project" ON "task"("project_id") WHERE project_id IS NOT NULL AND deleted_at IS NULL
CREATE INDEX "task_of_agent" ON "task"("agent_id", "created_at", "id") WHERE agent_id IS NOT NULL
CREATE INDEX "task_of_app" ON "task"("space_id", "account_id", "client_id", "created_at", "id") WHERE client_id IS NOT NULL AND deleted_at IS NULL
CREATE INDEX "task_of_parent" ON "task"("parent_id", "created_at", "id", "status") WHERE parent_id IS NOT NULL AND deleted_at IS NULL
CREATE INDEX "task_of_root" ON "task"("root_id", "status", "created_at") WHERE root_id IS NOT NULL AND deleted_at IS NULL
CREATE INDEX "task_of_schedule" ON "task"("schedule_id", "status") WHERE schedule_id IS NOT NULL AND deleted_at IS NULL
CREATE INDEX "task_present" ON "task"("space_id", "account_id", "created_at", "id") WHERE deleted_at IS NULL
CREATE INDEX "task_project_id_created_at_id_idx" ON "task"("project_id", "created_at", "id")
CREATE INDEX "task_share_changed" ON "task"("space_id", "share_changed_at", "id") WHERE share_changed_at IS NOT NULL
CREATE INDEX "task_shared" ON "task"("space_id", "shared_at", "created_at", "id") WHERE share_visibility <> 'private' OR shared_at IS NOT NULL
CREATE INDEX "task_space_id_account_id_created_at_id_idx" ON "task"("space_id", "account_id", "created_at", "id")
CREATE INDEX "task_status" ON "task"("space_id", "account_id", "status", "created_at", "id") WHERE deleted_at IS NULL
CREATE INDEX "task_team" ON "task"("space_id", "created_at", "id") WHERE deleted_at IS NULL AND share_visibility <> 'private' AND (max_visibility IS NULL OR max_visibility <> 'private')
CREATE INDEX "task_team_gone" ON "task"("space_id", "deleted_at", "id") WHERE deleted_at IS NOT NULL AND share_visibility <> 'private' AND (max_visibility IS NULL OR max_visibility <> 'private')
CREATE INDEX "task_team_updated" ON "task"("space_id", "updated_at", "id") WHERE deleted_at IS NULL AND share_visibility <> 'private' AND (max_visibility IS NULL OR max_visibility <> 'private')
CREATE INDEX "task_texts_behind" ON "task"("space_id", "account_id", "client_id") WHERE texts_behind AND deleted_at IS NULL
CREATE INDEX "task_updated" ON "task"("space_id", "account_id", "updated_at", "id") WHERE deleted_at IS NULL
CREATE INDEX "task_waits" ON "task"("space_id", "account_id", "waiting_since", "id") WHERE status = 'waiting' AND deleted_at IS NULL
CREATE TABLE "task_event" (
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "timestamp" BIGINT NOT NULL,
    "payload" TEXT NOT NULL,

    PRIMARY KEY ("task_id", "seq")
)
CREATE TABLE "task_means" (
    "task_id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "skills" TEXT,
    "forced" TEXT NOT NULL DEFAULT '[]',
    "connectors" TEXT NOT NULL DEFAULT '[]',
    "browser_id" TEXT
, "tools" TEXT)
CREATE TABLE "task_metadata" (
    "task_id" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "value" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,

    PRIMARY KEY ("task_id", "key")
)
CREATE INDEX "task_metadata_space_id_account_id_key_value_idx" ON "task_metadata"("space_id", "account_id", "key", "value")
CREATE TRIGGER "task_text_deleted" AFTER DELETE ON "task_text" BEGIN
    DELETE FROM task_words WHERE rowid = old.id;
END
CREATE TRIGGER "task_text_inserted" AFTER INSERT ON "task_text" BEGIN
    INSERT INTO task_words (rowid, words) VALUES (new.id, new.words);
END
CREATE TRIGGER "task_text_updated" AFTER UPDATE OF "words" ON "task_text" BEGIN
    DELETE FROM task_words WHERE rowid = old.id;
    INSERT INTO task_words (rowid, words) VALUES (new.id, new.words);
END
CREATE TABLE "task_text" (
    "id" INTEGER PRIMARY KEY,
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "words" TEXT NOT NULL
)
CREATE UNIQUE INDEX "task_text_task_id_seq_key" ON "task_text"("task_id", "seq")
CREATE VIRTUAL TABLE "task_words" USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii', prefix='11 12 13')
CREATE TABLE 'task_words_config'(k PRIMARY KEY, v) WITHOUT ROWID
CREATE TABLE 'task_words_data'(id INTEGER PRIMARY KEY, block BLOB)
CREATE TABLE 'task_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB, origin INTEGER)
CREATE TABLE 'task_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID
CREATE TABLE "team" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    CONSTRAINT "team_space_id_fkey" FOREIGN KEY ("space_id") REFERENCES "space" ("id") ON DELETE RESTRICT ON UPDATE RESTRICT
)
CREATE UNIQUE INDEX "team_name_key" ON "team"("name")
CREATE UNIQUE INDEX "team_space_id_key" ON "team"("space_id")
CREATE TABLE "team_group" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "external_id" TEXT,
    "role" TEXT,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL
)
CREATE UNIQUE INDEX "team_group_external_id" ON "team_group"("space_id", "external_id") WHERE external_id IS NOT NULL
CREATE INDEX "team_group_space_id_created_at_id_idx" ON "team_group"("space_id", "created_at", "id")
CREATE UNIQUE INDEX "team_group_space_id_name_key_key" ON "team_group"("space_id", "name_key")
CREATE TABLE "team_group_member" (
    "group_id" TEXT NOT NULL,
    "member_id" TEXT NOT NULL,

    PRIMARY KEY ("group_id", "member_id")
)
CREATE INDEX "team_group_member_member_id_idx" ON "team_group_member"("member_id")
CREATE TABLE "transcript" (
    "task_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "role" TEXT NOT NULL,
    "parts" TEXT NOT NULL,
    "blob_id" TEXT,
    "model" TEXT,
    "input_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "output_tokens" INTEGER,
    "active_ms" INTEGER NOT NULL,
    "credits" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,

    PRIMARY KEY ("task_id", "position")
)
CREATE TABLE "usage_day" (
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "day" INTEGER NOT NULL,
    "credits" BIGINT NOT NULL,

    PRIMARY KEY ("space_id", "account_id", "day")
)
CREATE INDEX "usage_day_space_id_day_idx" ON "usage_day"("space_id", "day")
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
, "api_key_id" TEXT, "cached_input_tokens" INTEGER NOT NULL DEFAULT 0, "cache_write_tokens" INTEGER NOT NULL DEFAULT 0)
CREATE INDEX "usage_entry_space_id_account_id_at_id_idx" ON "usage_entry"("space_id", "account_id", "at", "id")
CREATE INDEX "usage_entry_space_id_at_id_idx" ON "usage_entry"("space_id", "at", "id")
CREATE INDEX "usage_entry_task_id_idx" ON "usage_entry"("task_id")
CREATE TABLE "usage_record" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "task_id" TEXT,
    "kind" TEXT NOT NULL,
    "credits" BIGINT NOT NULL,
    "ahead" INTEGER NOT NULL DEFAULT 0,
    "updated_at" BIGINT NOT NULL
)
CREATE INDEX "usage_record_space_id_account_id_updated_at_id_idx" ON "usage_record"("space_id", "account_id", "updated_at", "id")
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
, "project_id" TEXT, "metadata" TEXT NOT NULL DEFAULT '{}', "name" TEXT)
CREATE INDEX "webhook_deleted" ON "webhook"("deleted_at") WHERE deleted_at IS NOT NULL
CREATE UNIQUE INDEX "webhook_of_app" ON "webhook"("client_id") WHERE client_id IS NOT NULL AND deleted_at IS NULL
CREATE INDEX "webhook_of_space" ON "webhook"("space_id", "created_at", "id") WHERE client_id IS NULL AND deleted_at IS NULL
CREATE UNIQUE INDEX "webhook_once" ON "webhook"("space_id", "account_id", "url") WHERE client_id IS NULL AND deleted_at IS NULL
CREATE TABLE "webhook_event" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "type" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "body" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL
)
CREATE INDEX "webhook_event_created_at_idx" ON "webhook_event"("created_at")
CREATE INDEX "webhook_event_task_id_idx" ON "webhook_event"("task_id")
CREATE TABLE "webhook_key" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "algorithm" TEXT NOT NULL,
    "public_key" TEXT NOT NULL,
    "private_key" BLOB NOT NULL,
    "created_at" BIGINT NOT NULL
, "number" INTEGER NOT NULL DEFAULT 1, "retires_at" BIGINT, "signs_from" BIGINT NOT NULL DEFAULT 0)
CREATE UNIQUE INDEX "webhook_key_algorithm_number_key" ON "webhook_key"("algorithm", "number")
CREATE TABLE "webhook_listener" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "event_types" TEXT NOT NULL,
    "project_id" TEXT,
    "secret" BLOB NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "renewed_at" BIGINT NOT NULL,
    "accepted" INTEGER NOT NULL DEFAULT 0,
    "waiting" INTEGER NOT NULL DEFAULT 0,
    "dropped" INTEGER NOT NULL DEFAULT 0
)
CREATE INDEX "webhook_listener_account_id_space_id_idx" ON "webhook_listener"("account_id", "space_id")
CREATE TABLE "website" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "label" TEXT NOT NULL,
    "title" TEXT NOT NULL,
    "visibility" TEXT NOT NULL,
    "max_visibility" TEXT,
    "status" TEXT NOT NULL,
    "status_at" BIGINT,
    "live_id" TEXT,
    "publishing_id" TEXT,
    "publishing_as" TEXT,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "deleted_at" BIGINT
, "shared_at" BIGINT, "team_max" TEXT)
CREATE UNIQUE INDEX "website_label_key" ON "website"("label")
CREATE INDEX "website_shared" ON "website"("space_id", "shared_at", "created_at", "id") WHERE live_id IS NOT NULL OR shared_at IS NOT NULL
CREATE INDEX "website_space_id_account_id_created_at_id_idx" ON "website"("space_id", "account_id", "created_at", "id")
CREATE INDEX "website_task_id_idx" ON "website"("task_id")
CREATE TABLE "website_viewer" (
    "website_id" TEXT NOT NULL,
    "email" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,

    PRIMARY KEY ("website_id", "email")
)
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
, "labels" TEXT NOT NULL DEFAULT '[]')
CREATE UNIQUE INDEX "worker_digest_key" ON "worker"("digest")
CREATE INDEX "worker_space_id_created_at_id_idx" ON "worker"("space_id", "created_at", "id")
CREATE TABLE "worker_event" (
    "task_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "key" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "digest" TEXT NOT NULL,

    PRIMARY KEY ("task_id", "turn", "key")
)
CREATE TABLE "worker_failure" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "worker_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "at" BIGINT NOT NULL
)
CREATE INDEX "worker_failure_at_idx" ON "worker_failure"("at")
CREATE INDEX "worker_failure_worker_id_at_id_idx" ON "worker_failure"("worker_id", "at", "id")
CREATE TABLE "worker_run" (
    "task_id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "worker_id" TEXT NOT NULL,
    "fence" INTEGER NOT NULL,
    "started_at" BIGINT NOT NULL,
    "lease_until" BIGINT NOT NULL
)
CREATE INDEX "worker_run_lease_until_idx" ON "worker_run"("lease_until")
CREATE INDEX "worker_run_worker_id_idx" ON "worker_run"("worker_id")
CREATE TABLE "workspace_file" (
    "task_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "blob_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL,

    PRIMARY KEY ("task_id", "path")
)
