-- AlterTable
ALTER TABLE "node" ADD COLUMN "process_id" TEXT;

-- AlterTable
ALTER TABLE "process_keys" ADD COLUMN "host" TEXT;
ALTER TABLE "process_keys" ADD COLUMN "memory_bytes" BIGINT;
ALTER TABLE "process_keys" ADD COLUMN "pid" INTEGER;
ALTER TABLE "process_keys" ADD COLUMN "role" TEXT;
ALTER TABLE "process_keys" ADD COLUMN "started_at" BIGINT;
ALTER TABLE "process_keys" ADD COLUMN "version" TEXT;
