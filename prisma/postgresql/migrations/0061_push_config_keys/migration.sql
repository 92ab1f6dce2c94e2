-- AlterTable
ALTER TABLE "push_config" ADD COLUMN     "api_key_id" TEXT;

-- CreateIndex
CREATE INDEX "push_config_of_account" ON "push_config"("account_id", "space_id", "created_at");
