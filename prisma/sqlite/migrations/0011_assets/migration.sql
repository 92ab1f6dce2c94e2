-- AlterTable
ALTER TABLE "task" ADD COLUMN "max_visibility" TEXT;
ALTER TABLE "task" ADD COLUMN "share_changed_at" BIGINT;
ALTER TABLE "task" ADD COLUMN "shared_at" BIGINT;

-- AlterTable
ALTER TABLE "website" ADD COLUMN "shared_at" BIGINT;
ALTER TABLE "website" ADD COLUMN "team_max" TEXT;

-- CreateIndex
CREATE INDEX "task_shared" ON "task"("space_id", "shared_at", "created_at", "id") WHERE share_visibility <> 'private' OR shared_at IS NOT NULL;

-- CreateIndex
CREATE INDEX "website_shared" ON "website"("space_id", "shared_at", "created_at", "id") WHERE live_id IS NOT NULL OR shared_at IS NOT NULL;
