-- CreateTable
CREATE TABLE "audit_anchor" (
    "space_id" TEXT NOT NULL PRIMARY KEY,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "removed_at" BIGINT NOT NULL
);
