-- CreateTable
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
);

-- CreateTable
CREATE TABLE "listener_event" (
    "listener_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "event_id" TEXT NOT NULL,

    PRIMARY KEY ("listener_id", "position")
);

-- CreateIndex
CREATE INDEX "webhook_listener_account_id_space_id_idx" ON "webhook_listener"("account_id", "space_id");
