-- AlterTable
ALTER TABLE "account" ADD COLUMN "operator" BOOLEAN NOT NULL DEFAULT false;

-- AlterTable
ALTER TABLE "sign_in_link" ADD COLUMN "is_first" BOOLEAN NOT NULL DEFAULT false;
