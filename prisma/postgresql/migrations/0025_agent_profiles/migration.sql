-- AlterTable
ALTER TABLE "task" ADD COLUMN     "turn_until" BIGINT;

-- AlterTable
ALTER TABLE "worker" ADD COLUMN     "labels" TEXT NOT NULL DEFAULT '[]';

-- CreateTable
CREATE TABLE "agent_profile" (
    "space_id" TEXT NOT NULL,
    "profile" TEXT NOT NULL,
    "title" TEXT,
    "description" TEXT,
    "concurrency" INTEGER,
    "time_limit" INTEGER,
    "updated_at" BIGINT NOT NULL,

    CONSTRAINT "agent_profile_pkey" PRIMARY KEY ("space_id","profile")
);

-- CreateTable
CREATE TABLE "profile_label" (
    "profile" TEXT NOT NULL,
    "label" TEXT NOT NULL,

    CONSTRAINT "profile_label_pkey" PRIMARY KEY ("profile","label")
);

-- CreateIndex
CREATE INDEX "task_run_profile" ON "task"("space_id", "agent_profile") WHERE (status = 'running' AND node_id IS NOT NULL AND deleted_at IS NULL);

-- CreateIndex
CREATE INDEX "task_turn_until" ON "task"("turn_until") WHERE (turn_until IS NOT NULL);
