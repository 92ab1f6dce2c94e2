-- AlterTable
ALTER TABLE "usage_entry" ADD COLUMN "api_key_id" TEXT;
