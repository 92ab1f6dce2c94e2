-- AlterTable
ALTER TABLE "node" ADD COLUMN     "process_id" TEXT;

-- AlterTable
ALTER TABLE "process_keys" ADD COLUMN     "host" TEXT,
ADD COLUMN     "memory_bytes" BIGINT,
ADD COLUMN     "pid" INTEGER,
ADD COLUMN     "role" TEXT,
ADD COLUMN     "started_at" BIGINT,
ADD COLUMN     "version" TEXT;
