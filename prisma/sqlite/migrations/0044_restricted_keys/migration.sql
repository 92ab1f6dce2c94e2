-- AlterTable
ALTER TABLE "api_key" ADD COLUMN "address_ranges" TEXT;
ALTER TABLE "api_key" ADD COLUMN "project_ids" TEXT;
ALTER TABLE "api_key" ADD COLUMN "scopes" TEXT;

-- AlterTable
ALTER TABLE "file" ADD COLUMN "api_key_id" TEXT;
