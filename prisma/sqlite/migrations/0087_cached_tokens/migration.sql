-- AlterTable
ALTER TABLE "usage_entry" ADD COLUMN "cached_input_tokens" INTEGER NOT NULL DEFAULT 0;
ALTER TABLE "usage_entry" ADD COLUMN "cache_write_tokens" INTEGER NOT NULL DEFAULT 0;
