-- CreateTable
CREATE TABLE "webhook_listener" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "event_types" TEXT NOT NULL,
    "project_id" TEXT,
    "secret" BYTEA NOT NULL,
    "expires_at" BIGINT NOT NULL,
    "renewed_at" BIGINT NOT NULL,
    "accepted" INTEGER NOT NULL DEFAULT 0,
    "waiting" INTEGER NOT NULL DEFAULT 0,
    "dropped" INTEGER NOT NULL DEFAULT 0,

    CONSTRAINT "webhook_listener_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "listener_event" (
    "listener_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "event_id" TEXT NOT NULL,

    CONSTRAINT "listener_event_pkey" PRIMARY KEY ("listener_id","position")
);

-- CreateIndex
CREATE INDEX "webhook_listener_account_id_space_id_idx" ON "webhook_listener"("account_id", "space_id");
