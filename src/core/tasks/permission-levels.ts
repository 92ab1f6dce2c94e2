import { grantsOf } from "../actions/action.ts";
import { type PermissionLevel, withGrants } from "../permissions/evaluate.ts";
import type { PermissionRule } from "../permissions/rule.ts";
import type { Tx } from "../store.ts";
import type { Task } from "./task.ts";

type Levels = Pick<Tx, "agentProfiles" | "projects">;

/**
 * The rules that a task has now, by level, without empty levels. What a person always allows is among its
 * own. The rules of each task above a subtask hold for it too.
 *
 * @param installation the setting PERMISSIONS.
 */
export async function permissionLevels(
  tx: Levels,
  { spaceId, agentProfile, projectId, permissions, allowed }: Task,
  installation: readonly PermissionRule[],
): Promise<readonly PermissionLevel[]> {
  const [profiles, project] = await Promise.all([
    tx.agentProfiles.list(spaceId),
    projectId === null ? null : tx.projects.byId(projectId),
  ]);
  const profile = profiles.find((each) => each.profile === agentProfile);
  const levels: readonly PermissionLevel[] = [
    { source: "installation", rules: installation },
    { source: "profile", rules: profile?.permissions ?? [] },
    { source: "project", rules: project?.permissions ?? [] },
    { source: "task", rules: withGrants(permissions, grantsOf(allowed)) },
  ];
  return levels.filter(({ rules }) => rules.length > 0);
}

/** The tasks above a subtask, at most three, the nearest first. A deleted one ends the list. */
export async function tasksAbove(tx: Pick<Tx, "tasks">, { parentId }: Task): Promise<readonly Task[]> {
  const parent = parentId === null ? null : await tx.tasks.byId(parentId);
  return parent ? [parent, ...(await tasksAbove(tx, parent))] : [];
}
