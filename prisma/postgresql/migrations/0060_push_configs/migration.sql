-- CreateTable
CREATE TABLE "push_config" (
    "task_id" TEXT NOT NULL,
    "client_id" TEXT NOT NULL,
    "config_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "secrets" BYTEA,
    "has_events" BOOLEAN NOT NULL,
    "state" TEXT NOT NULL,
    "sent_seq" INTEGER NOT NULL,
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "next_at" BIGINT NOT NULL,
    "claim" TEXT,
    "last_error" TEXT,
    "created_at" BIGINT NOT NULL,

    CONSTRAINT "push_config_pkey" PRIMARY KEY ("task_id","client_id","config_id")
);

-- CreateIndex
CREATE INDEX "push_config_due" ON "push_config"("next_at") WHERE (state = 'active');
