-- AlterTable
ALTER TABLE "task" ADD COLUMN "claimed_at" BIGINT NOT NULL DEFAULT 0;
ALTER TABLE "task" ADD COLUMN "texts_behind" BOOLEAN NOT NULL DEFAULT true;
ALTER TABLE "task" ADD COLUMN "touched_at" BIGINT NOT NULL DEFAULT 0;

-- A copy of the running tasks, which triggers keep. What changes in a run has its indexes here.
CREATE TABLE "running_task" (
    "id" TEXT NOT NULL PRIMARY KEY,
    "space_id" TEXT NOT NULL,
    "account_id" TEXT NOT NULL,
    "agent_profile" TEXT NOT NULL,
    "queued_at" BIGINT NOT NULL,
    "claimed_at" BIGINT NOT NULL,
    "node_id" TEXT,
    "wants_node" TEXT,
    "turn_until" BIGINT
) WITHOUT ROWID;

-- The queue by account.
CREATE INDEX "running_task_queue" ON "running_task"("account_id", "queued_at", "id") WHERE node_id IS NULL;

-- The tasks in run by owner, by profile, and by process.
CREATE INDEX "running_task_run" ON "running_task"("account_id", "space_id") WHERE node_id IS NOT NULL;
CREATE INDEX "running_task_profile" ON "running_task"("space_id", "agent_profile") WHERE node_id IS NOT NULL;
CREATE INDEX "running_task_node" ON "running_task"("node_id") WHERE node_id IS NOT NULL;

-- Turns with a time limit.
CREATE INDEX "running_task_turn" ON "running_task"("turn_until") WHERE turn_until IS NOT NULL;

INSERT INTO "running_task" ("id", "space_id", "account_id", "agent_profile", "queued_at", "claimed_at", "node_id", "wants_node", "turn_until")
SELECT id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until
FROM task WHERE status = 'running' AND deleted_at IS NULL;

CREATE TRIGGER "task_runs_inserted" AFTER INSERT ON "task" WHEN new.status = 'running' AND new.deleted_at IS NULL BEGIN
    INSERT INTO running_task (id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until)
    VALUES (new.id, new.space_id, new.account_id, new.agent_profile, new.queued_at, new.claimed_at, new.node_id, new.wants_node, new.turn_until);
END;

CREATE TRIGGER "task_runs_updated" AFTER UPDATE ON "task" WHEN (old.status = 'running' OR new.status = 'running')
    AND (old.status <> new.status OR old.queued_at <> new.queued_at OR old.claimed_at <> new.claimed_at
    OR old.agent_profile <> new.agent_profile OR old.node_id IS NOT new.node_id OR old.wants_node IS NOT new.wants_node
    OR old.turn_until IS NOT new.turn_until OR old.deleted_at IS NOT new.deleted_at) BEGIN
    DELETE FROM running_task WHERE id = old.id AND (new.status <> 'running' OR new.deleted_at IS NOT NULL);
    INSERT INTO running_task (id, space_id, account_id, agent_profile, queued_at, claimed_at, node_id, wants_node, turn_until)
    SELECT new.id, new.space_id, new.account_id, new.agent_profile, new.queued_at, new.claimed_at, new.node_id, new.wants_node, new.turn_until
    WHERE new.status = 'running' AND new.deleted_at IS NULL
    ON CONFLICT (id) DO UPDATE SET agent_profile = excluded.agent_profile, queued_at = excluded.queued_at, claimed_at = excluded.claimed_at,
        node_id = excluded.node_id, wants_node = excluded.wants_node, turn_until = excluded.turn_until;
END;

CREATE TRIGGER "task_runs_deleted" AFTER DELETE ON "task" WHEN old.status = 'running' BEGIN
    DELETE FROM running_task WHERE id = old.id;
END;

-- For statements that do not write the column themselves.
CREATE TRIGGER "task_texts_behind" AFTER UPDATE ON "task" WHEN new.indexed_seq < new.last_seq AND NOT new.texts_behind BEGIN
    UPDATE task SET texts_behind = true WHERE id = new.id;
END;

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
CREATE INDEX "task_texts_behind" ON "task"("space_id", "account_id", "client_id") WHERE texts_behind AND deleted_at IS NULL;
