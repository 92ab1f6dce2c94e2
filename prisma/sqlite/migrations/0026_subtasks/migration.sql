-- CreateTable
CREATE TABLE "parent_task" (
    "task_id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "look_at" BIGINT,
    "stop_turn" INTEGER NOT NULL DEFAULT 0
);

-- CreateTable
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
);

-- AlterTable
ALTER TABLE "task" ADD COLUMN "parent_id" TEXT;
ALTER TABLE "task" ADD COLUMN "root_id" TEXT;
ALTER TABLE "task" ADD COLUMN "depth" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "task" ADD COLUMN "parent_turn" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "task" ADD COLUMN "subtasks" INTEGER NOT NULL DEFAULT 0;

-- CreateIndex
CREATE INDEX "parent_task_due" ON "parent_task"("look_at") WHERE look_at IS NOT NULL;

-- CreateIndex
CREATE INDEX "task_of_parent" ON "task"("parent_id", "created_at", "id", "status") WHERE parent_id IS NOT NULL AND deleted_at IS NULL;

-- CreateIndex
CREATE INDEX "task_of_root" ON "task"("root_id", "status", "created_at") WHERE root_id IS NOT NULL AND deleted_at IS NULL;
