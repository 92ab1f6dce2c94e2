-- CreateTable
CREATE TABLE "model" (
    "name" TEXT NOT NULL,
    "entry" TEXT NOT NULL,
    "secrets" BYTEA,
    "key_end" TEXT,
    "price" TEXT,
    "profiles" TEXT NOT NULL,
    "updated_at" BIGINT NOT NULL,

    CONSTRAINT "model_pkey" PRIMARY KEY ("name")
);
