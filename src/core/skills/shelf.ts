import type { Caller } from "../caller.ts";
import { absent, Failure, invalid } from "../failure.ts";
import { editsAllApps } from "../oauth/app.ts";
import { checkEditable } from "../oauth/apps.ts";
import type { Tx } from "../store.ts";
import type { Skill, SkillOwnerType, SkillShelf } from "./skill.ts";

/** Where a caller wants a skill to stand. */
export interface WantedShelf {
  readonly ownerType: Exclude<SkillOwnerType, "official">;
  readonly projectId: string | undefined;
  readonly clientId: string | undefined;
}

/**
 * The list that a caller may add to.
 *
 * @throws Failure `invalid` when the words do not fit each other, `absent` for a project or an app that is not the
 * caller's, `forbidden` for whoever may not change the team's or the app's.
 */
export async function shelfFor(tx: Tx, caller: Caller, { ownerType, projectId, clientId }: WantedShelf): Promise<SkillShelf> {
  if ((projectId !== undefined) !== (ownerType === "project"))
    throw invalid("project_id", "goes with the owner type project, and only with it");
  if ((clientId !== undefined) !== (ownerType === "app")) throw invalid("client_id", "goes with the owner type app, and only with it");
  const { accountId, spaceId } = caller;
  const shelf: SkillShelf = { ownerType, spaceId, accountId, projectId: projectId ?? null, clientId: clientId ?? null };
  await checkMayChange(tx, caller, shelf);
  return shelf;
}

/** A skill that the caller may change. @throws Failure `absent` or `forbidden`. */
export async function changeableSkill(tx: Tx, caller: Caller, id: string): Promise<Skill> {
  const skill = await tx.skills.byId(id);
  if (!skill) throw absent("skill");
  await checkMayChange(tx, caller, skill).catch((thrown: unknown) => {
    throw thrown instanceof Failure && thrown.reason === "absent" ? absent("skill") : thrown;
  });
  return skill;
}

async function checkMayChange(tx: Tx, caller: Caller, { ownerType, spaceId, accountId, projectId, clientId }: SkillShelf): Promise<void> {
  if (ownerType === "official") throw new Failure("forbidden", "official skills are the operator's");
  if (spaceId !== caller.spaceId || (ownerType === "personal" && accountId !== caller.accountId)) throw absent("skill");
  if (ownerType === "project" && !(await tx.projects.find(caller, projectId ?? ""))) throw absent("project", "project_id");
  if (ownerType === "app") checkEditable(await tx.apps.find(clientId ?? ""), caller);
  if (ownerType === "team") checkTeam(caller);
}

function checkTeam(caller: Caller): void {
  if (caller.role === null) throw invalid("owner_type", "a personal space has no team");
  if (!editsAllApps(caller)) throw new Failure("forbidden", "the team's skills are changed by its owner, a super admin or an admin");
}
