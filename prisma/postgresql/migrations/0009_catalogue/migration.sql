-- AlterTable
ALTER TABLE "task" ADD COLUMN     "wants_node" TEXT;

-- CreateTable
CREATE TABLE "task_means" (
    "task_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "skills" TEXT,
    "forced" TEXT NOT NULL DEFAULT '[]',
    "connectors" TEXT NOT NULL DEFAULT '[]',
    "browser_id" TEXT,

    CONSTRAINT "task_means_pkey" PRIMARY KEY ("task_id")
);

-- CreateTable
CREATE TABLE "skill" (
    "id" TEXT NOT NULL,
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
    "deleted_at" BIGINT,

    CONSTRAINT "skill_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "skill_choice" (
    "skill_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "enabled" BOOLEAN NOT NULL,

    CONSTRAINT "skill_choice_pkey" PRIMARY KEY ("account_id","space_id","skill_id")
);

-- CreateTable
CREATE TABLE "connector" (
    "id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT,
    "uid" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL,
    "category" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "server" TEXT NOT NULL,
    "credentials" BYTEA,
    "state" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL,
    "tools" TEXT NOT NULL DEFAULT '[]',
    "tools_at" BIGINT,
    "policy" TEXT NOT NULL DEFAULT '{}',
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,
    "deleted_at" BIGINT,

    CONSTRAINT "connector_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "connector_authorization" (
    "digest" TEXT NOT NULL,
    "connector_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "expires_at" BIGINT NOT NULL,

    CONSTRAINT "connector_authorization_pkey" PRIMARY KEY ("digest")
);

-- CreateTable
CREATE TABLE "project_connector" (
    "project_id" TEXT NOT NULL,
    "uid" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,

    CONSTRAINT "project_connector_pkey" PRIMARY KEY ("project_id","uid")
);

-- CreateTable
CREATE TABLE "browser" (
    "id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "node_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "user_agent" TEXT NOT NULL,
    "attached_at" BIGINT NOT NULL,

    CONSTRAINT "browser_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "website" (
    "id" TEXT NOT NULL,
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
    "deleted_at" BIGINT,

    CONSTRAINT "website_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "checkpoint" (
    "id" TEXT NOT NULL,
    "website_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "status" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,

    CONSTRAINT "checkpoint_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "checkpoint_file" (
    "checkpoint_id" TEXT NOT NULL,
    "path" TEXT NOT NULL,
    "blob_id" TEXT NOT NULL,
    "bytes" BIGINT NOT NULL,
    "sha256" TEXT NOT NULL,
    "content_type" TEXT NOT NULL,

    CONSTRAINT "checkpoint_file_pkey" PRIMARY KEY ("checkpoint_id","path")
);

-- CreateTable
CREATE TABLE "site_visit" (
    "digest" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "website_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "expires_at" BIGINT NOT NULL,

    CONSTRAINT "site_visit_pkey" PRIMARY KEY ("digest")
);

-- CreateIndex
CREATE INDEX "skill_space_id_account_id_created_at_id_idx" ON "skill"("space_id", "account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "skill_project_id_idx" ON "skill"("project_id");

-- CreateIndex
CREATE INDEX "skill_client_id_idx" ON "skill"("client_id");

-- CreateIndex
CREATE INDEX "skill_owner_type_idx" ON "skill"("owner_type");

-- CreateIndex
CREATE INDEX "skill_choice_skill_id_idx" ON "skill_choice"("skill_id");

-- CreateIndex
CREATE INDEX "connector_space_id_account_id_created_at_id_idx" ON "connector"("space_id", "account_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "connector_once" ON "connector"("space_id", "account_id", "uid") WHERE (deleted_at IS NULL AND account_id IS NOT NULL);

-- CreateIndex
CREATE UNIQUE INDEX "connector_of_space_once" ON "connector"("space_id", "uid") WHERE (deleted_at IS NULL AND account_id IS NULL);

-- CreateIndex
CREATE INDEX "connector_authorization_expires_at_idx" ON "connector_authorization"("expires_at");

-- CreateIndex
CREATE INDEX "browser_space_id_account_id_idx" ON "browser"("space_id", "account_id");

-- CreateIndex
CREATE INDEX "browser_node_id_idx" ON "browser"("node_id");

-- CreateIndex
CREATE UNIQUE INDEX "website_label_key" ON "website"("label");

-- CreateIndex
CREATE INDEX "website_space_id_account_id_created_at_id_idx" ON "website"("space_id", "account_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "website_task_id_idx" ON "website"("task_id");

-- CreateIndex
CREATE INDEX "checkpoint_website_id_created_at_id_idx" ON "checkpoint"("website_id", "created_at", "id");

-- CreateIndex
CREATE INDEX "checkpoint_file_blob_id_idx" ON "checkpoint_file"("blob_id");

-- CreateIndex
CREATE INDEX "site_visit_expires_at_idx" ON "site_visit"("expires_at");
