-- DropIndex
DROP INDEX "webhook_key_algorithm_key";

-- AlterTable
ALTER TABLE "webhook_key" ADD COLUMN     "number" INTEGER NOT NULL DEFAULT 1,
ADD COLUMN     "retires_at" BIGINT,
ADD COLUMN     "signs_from" BIGINT NOT NULL DEFAULT 0;

-- CreateIndex
CREATE UNIQUE INDEX "webhook_key_algorithm_number_key" ON "webhook_key"("algorithm", "number");
