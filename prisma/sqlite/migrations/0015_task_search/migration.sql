-- AlterTable
ALTER TABLE "task" ADD COLUMN "indexed_seq" INTEGER NOT NULL DEFAULT -1;

-- CreateIndex
CREATE INDEX "task_not_indexed" ON "task"("space_id", "account_id", "client_id") WHERE indexed_seq < last_seq AND deleted_at IS NULL;

-- The words of a title (seq 0) or a message, each between spaces. Not in the models of Prisma.
CREATE TABLE "task_text" (
    "id" INTEGER PRIMARY KEY,
    "task_id" TEXT NOT NULL,
    "seq" INTEGER NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "words" TEXT NOT NULL
);

CREATE UNIQUE INDEX "task_text_task_id_seq_key" ON "task_text"("task_id", "seq");

-- The index of these words. A word begins with the ten characters of its owner: the prefixes are those of one to three more.
CREATE VIRTUAL TABLE "task_words" USING fts5(words, content='', contentless_delete=1, detail=none, tokenize='ascii', prefix='11 12 13');

CREATE TRIGGER "task_text_inserted" AFTER INSERT ON "task_text" BEGIN
    INSERT INTO task_words (rowid, words) VALUES (new.id, new.words);
END;

CREATE TRIGGER "task_text_updated" AFTER UPDATE OF "words" ON "task_text" BEGIN
    DELETE FROM task_words WHERE rowid = old.id;
    INSERT INTO task_words (rowid, words) VALUES (new.id, new.words);
END;

CREATE TRIGGER "task_text_deleted" AFTER DELETE ON "task_text" BEGIN
    DELETE FROM task_words WHERE rowid = old.id;
END;
