-- AlterTable
ALTER TABLE "blob" ADD COLUMN     "refs" INTEGER NOT NULL DEFAULT 1;

-- AlterTable
ALTER TABLE "task_means" ADD COLUMN     "tools" TEXT;
