-- CreateTable
CREATE TABLE "audit_anchor" (
    "space_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "hash" TEXT NOT NULL,
    "removed_at" BIGINT NOT NULL,

    CONSTRAINT "audit_anchor_pkey" PRIMARY KEY ("space_id")
);
