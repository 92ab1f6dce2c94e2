-- AlterTable
ALTER TABLE "task" ADD COLUMN     "imported_from" TEXT;

-- CreateTable
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

    CONSTRAINT "imported_object_pkey" PRIMARY KEY ("space_id","account_id","origin","kind","source_id")
);

-- CreateIndex
CREATE INDEX "imported_object_missing" ON "imported_object"("task_id", "seq") WHERE (task_id IS NOT NULL AND NOT complete);
