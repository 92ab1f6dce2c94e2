import type { Tx } from "../store.ts";
import type { Task } from "../tasks/task.ts";
import type { SkillView } from "./skill.ts";

/** A skill that a task may use. */
export interface TaskSkill extends SkillView {
  /** It must be used. */
  readonly forced: boolean;
}

/**
 * The skills of a task, forced ones first: those that its messages have named, or else the enabled ones
 * (contract/v2.md 9.10). What was deleted since, or is out of reach now, is left out.
 */
export async function skillsOfTask(
  tx: Pick<Tx, "skills" | "means">,
  task: Pick<Task, "id" | "accountId" | "spaceId" | "projectId" | "clientId">,
): Promise<readonly TaskSkill[]> {
  const visible = await tx.skills.visible(task);
  if (visible.length === 0) return [];
  const means = await tx.means.find(task.id);
  const named = means?.skills ?? null;
  const forced = new Set(means?.forced);
  const isOn = ({ id, enabled }: SkillView) => forced.has(id) || (named === null ? enabled : named.includes(id));
  const mine = visible.filter(isOn).map((skill) => ({ ...skill, forced: forced.has(skill.id) }));
  return mine.toSorted((a, b) => Number(b.forced) - Number(a.forced));
}
