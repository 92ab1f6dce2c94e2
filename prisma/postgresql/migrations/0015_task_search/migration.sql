-- AlterTable
ALTER TABLE "task" ADD COLUMN     "indexed_seq" INTEGER NOT NULL DEFAULT -1;

-- CreateIndex
CREATE INDEX "task_not_indexed" ON "task"("space_id", "account_id", "client_id") WHERE (indexed_seq < last_seq AND deleted_at IS NULL);

-- The words of a title (seq 0) or a message. Not in the models of Prisma.
CREATE TABLE "task_text" (
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "words" tsvector NOT NULL,

    CONSTRAINT "task_text_pkey" PRIMARY KEY ("task_id","seq")
);

-- Without a list of pending entries, which every search would read: it has the entries of all spaces.
CREATE INDEX "task_text_words_idx" ON "task_text" USING GIN ("words") WITH (fastupdate = off);

-- The tasks of some entries with these words. It always uses the index: for frequent words the planner would read the table, which has
-- the entries of all spaces.
CREATE FUNCTION "find_task_text"(query tsquery, of_space TEXT, of_account TEXT, at_most INTEGER) RETURNS SETOF TEXT
LANGUAGE sql STABLE SET enable_seqscan = off AS $$
    SELECT task_id FROM task_text WHERE words @@ query AND space_id = of_space AND account_id = of_account LIMIT at_most
$$;
