-- AlterTable
ALTER TABLE "export" ADD COLUMN "kind" TEXT NOT NULL DEFAULT 'data';
ALTER TABLE "export" ADD COLUMN "event_count" BIGINT;

-- CreateIndex
CREATE UNIQUE INDEX "export_compliance_once" ON "export"("space_id") WHERE kind = 'compliance' AND completed_at IS NULL;
