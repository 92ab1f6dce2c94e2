import type { Caller } from "../accounts/caller.ts";
import { checkMayLose } from "../permissions/grant.ts";
import { requireProject } from "../projects/project.ts";
import type { SkillOwner } from "../skills/skill.ts";
import { deleteSkills } from "../skills/store-skill.ts";
import type { Tx } from "../store.ts";

/**
 * Deletes a project, with its skills, its default connectors and its budgets. Costs stay recorded. Its tasks
 * keep their reference for at most a minute: maintenance removes it, because a project may have any number of
 * tasks.
 *
 * @throws Failure `not_found` when the caller has no project of this id, `permission_denied` for one with
 * rules that the caller may not loosen.
 */
export async function deleteProject(tx: Tx, caller: Caller, id: string, now: number): Promise<void> {
  const project = requireProject(await tx.projects.tombstone(caller, id, now));
  checkMayLose(caller, project, "project_id");
  const { spaceId } = project;
  const owner: SkillOwner = { ownerType: "project", spaceId, accountId: null, projectId: id, clientId: null };
  const skills = await deleteSkills(tx, await tx.skills.listOfOwner(owner), now);
  await tx.connectors.setDefaultsOf(project, []);
  const budgets = (await tx.budgets.list(spaceId)).filter(
    ({ kind, subject }) => kind === "project" && subject === id,
  );
  for (const budget of budgets) await tx.budgets.remove(spaceId, budget.id);
  tx.audit.note({ subject: id, before: { name: project.name }, after: { skills, budgets: budgets.length } });
}
