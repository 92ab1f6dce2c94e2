-- CreateTable
CREATE TABLE "team_group" (
    "id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "display_name" TEXT NOT NULL,
    "name_key" TEXT NOT NULL,
    "external_id" TEXT,
    "role" TEXT,
    "created_at" BIGINT NOT NULL,
    "updated_at" BIGINT NOT NULL,

    CONSTRAINT "team_group_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "team_group_member" (
    "group_id" TEXT NOT NULL,
    "member_id" TEXT NOT NULL,

    CONSTRAINT "team_group_member_pkey" PRIMARY KEY ("group_id","member_id")
);

-- CreateIndex
CREATE INDEX "team_group_space_id_created_at_id_idx" ON "team_group"("space_id", "created_at", "id");

-- CreateIndex
CREATE UNIQUE INDEX "team_group_space_id_name_key_key" ON "team_group"("space_id", "name_key");

-- CreateIndex
CREATE UNIQUE INDEX "team_group_external_id" ON "team_group"("space_id", "external_id") WHERE (external_id IS NOT NULL);

-- CreateIndex
CREATE INDEX "team_group_member_member_id_idx" ON "team_group_member"("member_id");
