-- AlterTable
ALTER TABLE "agent_profile" ADD COLUMN "fetch_mode" TEXT;
ALTER TABLE "agent_profile" ADD COLUMN "fetch_hosts" TEXT;

-- An installation with accounts is from before: its models keep sending requests without an approval unless their entries say else.
INSERT INTO "setting" ("key", "value") SELECT 'fetch', 'allow' WHERE EXISTS (SELECT 1 FROM "account");
