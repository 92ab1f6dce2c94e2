-- AlterTable
ALTER TABLE "export" ADD COLUMN     "event_count" BIGINT,
ADD COLUMN     "kind" TEXT NOT NULL DEFAULT 'data';

-- CreateIndex
CREATE UNIQUE INDEX "export_compliance_once" ON "export"("space_id") WHERE (kind = 'compliance' AND completed_at IS NULL);
