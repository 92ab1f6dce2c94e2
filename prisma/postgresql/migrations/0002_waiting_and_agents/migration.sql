-- AlterTable
ALTER TABLE "task" ADD COLUMN     "agent_id" TEXT,
ADD COLUMN     "allowed" TEXT NOT NULL DEFAULT '[]',
ADD COLUMN     "memo" TEXT;

-- CreateTable
CREATE TABLE "pending_action" (
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "variant" TEXT NOT NULL,
    "action_id" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "input" BYTEA,

    CONSTRAINT "pending_action_pkey" PRIMARY KEY ("task_id","seq")
);

-- CreateTable
CREATE TABLE "agent" (
    "id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "task_id" TEXT NOT NULL,
    "nickname" TEXT NOT NULL,
    "about" TEXT NOT NULL,
    "is_default" BOOLEAN NOT NULL,
    "created_at" BIGINT NOT NULL,

    CONSTRAINT "agent_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "agent_task_id_key" ON "agent"("task_id");

-- CreateIndex
CREATE UNIQUE INDEX "agent_one_default" ON "agent"("space_id", "account_id") WHERE (is_default);

-- CreateIndex
CREATE INDEX "task_of_agent" ON "task"("agent_id", "created_at", "id") WHERE (agent_id IS NOT NULL);
