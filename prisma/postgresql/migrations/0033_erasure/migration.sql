-- CreateTable
CREATE TABLE "erasure" (
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,
    "completed_at" BIGINT,

    CONSTRAINT "erasure_pkey" PRIMARY KEY ("kind","subject")
);

-- CreateTable
CREATE TABLE "legal_hold" (
    "name" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "subject" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,

    CONSTRAINT "legal_hold_pkey" PRIMARY KEY ("name")
);

-- CreateIndex
CREATE INDEX "erasure_open" ON "erasure"("created_at") WHERE (completed_at IS NULL);

-- CreateIndex
CREATE INDEX "legal_hold_kind_subject_idx" ON "legal_hold"("kind", "subject");
