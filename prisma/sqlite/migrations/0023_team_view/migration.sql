-- CreateIndex
CREATE INDEX "task_team" ON "task"("space_id", "created_at", "id") WHERE deleted_at IS NULL AND share_visibility <> 'private' AND (max_visibility IS NULL OR max_visibility <> 'private');

-- CreateIndex
CREATE INDEX "task_team_updated" ON "task"("space_id", "updated_at", "id") WHERE deleted_at IS NULL AND share_visibility <> 'private' AND (max_visibility IS NULL OR max_visibility <> 'private');

-- CreateIndex
CREATE INDEX "task_share_changed" ON "task"("space_id", "share_changed_at", "id") WHERE share_changed_at IS NOT NULL;

-- CreateIndex
CREATE INDEX "task_team_gone" ON "task"("space_id", "deleted_at", "id") WHERE deleted_at IS NOT NULL AND share_visibility <> 'private' AND (max_visibility IS NULL OR max_visibility <> 'private');
