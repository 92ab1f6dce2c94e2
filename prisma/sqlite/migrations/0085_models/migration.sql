-- CreateTable
CREATE TABLE "model" (
    "name" TEXT NOT NULL PRIMARY KEY,
    "entry" TEXT NOT NULL,
    "secrets" BLOB,
    "key_end" TEXT,
    "price" TEXT,
    "profiles" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL
);
