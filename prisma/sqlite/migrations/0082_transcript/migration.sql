-- CreateTable
CREATE TABLE "transcript" (
    "task_id" TEXT NOT NULL,
    "position" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "turn" INTEGER NOT NULL,
    "seq" INTEGER NOT NULL,
    "role" TEXT NOT NULL,
    "parts" TEXT NOT NULL,
    "blob_id" TEXT,
    "model" TEXT,
    "input_tokens" INTEGER,
    "cached_tokens" INTEGER,
    "output_tokens" INTEGER,
    "active_ms" INTEGER NOT NULL,
    "credits" INTEGER NOT NULL,
    "created_at" BIGINT NOT NULL,

    PRIMARY KEY ("task_id", "position")
);
