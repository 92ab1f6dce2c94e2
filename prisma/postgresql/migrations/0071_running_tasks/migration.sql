-- AlterTable
ALTER TABLE "task" ADD COLUMN     "claimed_at" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "texts_behind" BOOLEAN NOT NULL DEFAULT true,
ADD COLUMN     "touched_at" BIGINT NOT NULL DEFAULT 0;

-- Space in each page for the next version of its rows.
ALTER TABLE "task" SET (fillfactor = 80);

-- Many entries of a word are written at once: alone, each one writes all that its page has of the word to the log. Searches also read the
-- list of pending entries, which has at most 64 kB.
ALTER INDEX "task_text_words_idx" SET (fastupdate = on, gin_pending_list_limit = 64);

-- A copy of the running tasks, which triggers keep, also for processes of an earlier release. What changes in a run has its indexes here.
CREATE TABLE "running_task" (
    "id" TEXT NOT NULL,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "agent_profile" TEXT NOT NULL,
    "queued_at" BIGINT NOT NULL,
    "claimed_at" BIGINT NOT NULL,
    "node_id" TEXT,
    "wants_node" TEXT,
    "turn_until" BIGINT,

    CONSTRAINT "running_task_pkey" PRIMARY KEY ("id")
);

-- The queue by account.
CREATE INDEX "running_task_queue" ON "running_task"("account_id", "queued_at", "id") WHERE (node_id IS NULL);

-- The tasks in run by owner, by profile, and by process.
CREATE INDEX "running_task_run" ON "running_task"("account_id", "space_id") WHERE (node_id IS NOT NULL);
CREATE INDEX "running_task_profile" ON "running_task"("space_id", "agent_profile") WHERE (node_id IS NOT NULL);
CREATE INDEX "running_task_node" ON "running_task"("node_id") WHERE (node_id IS NOT NULL);

-- Turns with a time limit.
CREATE INDEX "running_task_turn" ON "running_task"("turn_until") WHERE (turn_until IS NOT NULL);

INSERT INTO "running_task" ("id", "space_id", "account_id", "agent_profile", "queued_at", "claimed_at", "node_id", "wants_node", "turn_until")
SELECT id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until
FROM task WHERE status = 'running' AND deleted_at IS NULL;

CREATE FUNCTION "copy_running_task"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP <> 'INSERT' AND (TG_OP = 'DELETE' OR NEW.status <> 'running' OR NEW.deleted_at IS NOT NULL) THEN
        DELETE FROM running_task WHERE id = OLD.id;
    ELSE
        INSERT INTO running_task (id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until)
        VALUES (NEW.id, NEW.space_id, NEW.account_id, NEW.agent_profile, NEW.queued_at, NEW.claimed_at, NEW.node_id, NEW.wants_node, NEW.turn_until)
        ON CONFLICT (id) DO UPDATE SET agent_profile = excluded.agent_profile, queued_at = excluded.queued_at, claimed_at = excluded.claimed_at,
            node_id = excluded.node_id, wants_node = excluded.wants_node, turn_until = excluded.turn_until;
    END IF;
    RETURN NULL;
END $$;

CREATE TRIGGER "task_runs_inserted" AFTER INSERT ON "task" FOR EACH ROW
WHEN (NEW.status = 'running' AND NEW.deleted_at IS NULL) EXECUTE FUNCTION copy_running_task();

CREATE TRIGGER "task_runs_updated" AFTER UPDATE ON "task" FOR EACH ROW
WHEN ((OLD.status = 'running' OR NEW.status = 'running') AND (OLD.status <> NEW.status OR OLD.queued_at <> NEW.queued_at
    OR OLD.claimed_at <> NEW.claimed_at OR OLD.agent_profile <> NEW.agent_profile OR OLD.node_id IS DISTINCT FROM NEW.node_id
    OR OLD.wants_node IS DISTINCT FROM NEW.wants_node OR OLD.turn_until IS DISTINCT FROM NEW.turn_until
    OR OLD.deleted_at IS DISTINCT FROM NEW.deleted_at)) EXECUTE FUNCTION copy_running_task();

CREATE TRIGGER "task_runs_deleted" AFTER DELETE ON "task" FOR EACH ROW
WHEN (OLD.status = 'running') EXECUTE FUNCTION copy_running_task();

-- A process of an earlier release writes events without their texts. Processes of this one write the column themselves.
CREATE FUNCTION "set_texts_behind"() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    NEW.texts_behind := true;
    RETURN NEW;
END $$;

CREATE TRIGGER "task_texts_behind" BEFORE UPDATE ON "task" FOR EACH ROW
WHEN (NEW.indexed_seq < NEW.last_seq AND NOT NEW.texts_behind) EXECUTE FUNCTION set_texts_behind();

-- DropIndex
DROP INDEX "task_not_indexed";

-- DropIndex
DROP INDEX "task_run_profile";

-- DropIndex
DROP INDEX "task_running";

-- DropIndex
DROP INDEX "task_turn_until";

-- DropIndex
DROP INDEX "task_waiting";

-- CreateIndex
CREATE INDEX "task_texts_behind" ON "task"("space_id", "account_id", "client_id") WHERE (texts_behind AND deleted_at IS NULL);
