-- CreateTable
CREATE TABLE "event_segment" (
    "task_id" TEXT NOT NULL,
    "first_seq" INTEGER NOT NULL,
    "last_seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "events" INTEGER NOT NULL,
    "bytes" INTEGER NOT NULL,
    "sha256" TEXT NOT NULL,
    "data_key" BLOB NOT NULL,
    "blob_id" TEXT NOT NULL,
    "created_at" BIGINT NOT NULL,

    PRIMARY KEY ("task_id", "first_seq")
);
