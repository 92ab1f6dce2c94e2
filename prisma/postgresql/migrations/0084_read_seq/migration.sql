-- AlterTable
ALTER TABLE "task" ADD COLUMN     "read_seq" INTEGER NOT NULL DEFAULT 0;
