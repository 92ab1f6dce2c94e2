-- AlterTable
ALTER TABLE "task" ADD COLUMN     "turn_request" TEXT;
