-- AlterTable
ALTER TABLE "project" ADD COLUMN     "deleted_at" BIGINT;

-- CreateIndex
CREATE INDEX "project_deleted" ON "project"("deleted_at") WHERE (deleted_at IS NOT NULL);
