import { appOf, type Caller } from "../accounts/caller.ts";
import { invalidArgument } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import type { RequestedResources } from "../tasks/task-resources.ts";
import type { SkillScope, SkillView } from "./skill.ts";

/**
 * Refuses skills that a message names and its task cannot have. Reads nothing when the message names none.
 * An app receives the same error for another app's private skills as for unknown ids.
 *
 * @throws Failure `invalid_argument` with the path of the first unknown id (spec/api.md 14.2).
 */
export async function checkRequestedSkills(
  tx: Tx,
  caller: Caller,
  { accountId, spaceId, projectId, clientId }: SkillScope,
  { skills, forced }: Pick<RequestedResources, "skills" | "forced">,
): Promise<void> {
  if (skills.length === 0 && forced.length === 0) return;
  const app = appOf(caller);
  const place = {
    accountId,
    spaceId,
    projectId,
    clientId: app === null || app === clientId ? clientId : null,
  };
  const known = new Set((await tx.skills.visible(place)).map(({ id }) => id));
  for (const [path, ids] of [
    ["message.enable_skills", skills],
    ["message.force_skills", forced],
  ] as const) {
    const unknown = ids.findIndex((id) => !known.has(id));
    if (unknown >= 0) throw invalidArgument(`${path}[${unknown}]`, `${ids[unknown]} is unknown`);
  }
}

export interface TaskSkill extends SkillView {
  /** The task must use it. */
  readonly forced: boolean;
}

/**
 * The skills of a task, forced ones first: those that its messages have named, or else the enabled ones
 * (spec/api.md 9.10). Omits skills that were deleted, or that the task can no longer reach.
 */
export async function skillsOfTask(
  tx: Pick<Tx, "skills" | "taskResources">,
  task: Pick<Task, "id" | "accountId" | "spaceId" | "projectId" | "clientId">,
): Promise<readonly TaskSkill[]> {
  const visible = await tx.skills.visible(task);
  if (visible.length === 0) return [];
  const resources = await tx.taskResources.find(task.id);
  const named = resources?.skills ?? null;
  const forced = new Set(resources?.forced);
  const isIncluded = ({ id, enabled }: SkillView) =>
    forced.has(id) || (named === null ? enabled : named.includes(id));
  const included = visible.filter(isIncluded).map((skill) => ({ ...skill, forced: forced.has(skill.id) }));
  return included.toSorted((a, b) => Number(b.forced) - Number(a.forced));
}
