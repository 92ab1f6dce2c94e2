-- AlterTable
ALTER TABLE "agent_profile" ADD COLUMN "permissions" TEXT NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "project" ADD COLUMN "permissions" TEXT NOT NULL DEFAULT '[]';

-- AlterTable
ALTER TABLE "task" ADD COLUMN "permissions" TEXT NOT NULL DEFAULT '[]';
ALTER TABLE "task" ADD COLUMN "untrusted" BOOLEAN NOT NULL DEFAULT false;
