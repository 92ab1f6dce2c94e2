import type { Caller } from "../accounts/caller.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import { checkEditable, mayEditAllApps } from "../oauth/app.ts";
import type { Tx } from "../store.ts";
import type { Skill, SkillOwner, SkillOwnerType } from "./skill.ts";

export interface OwnerInput {
  readonly ownerType: Exclude<SkillOwnerType, "official">;
  readonly projectId: string | undefined;
  readonly clientId: string | undefined;
}

/**
 * The owner whose list the caller may change.
 *
 * @throws Failure `invalid_argument` when the fields do not fit each other, `not_found` for a project or an
 * app that is not the caller's, `permission_denied` for a caller who may not change the team's or the app's
 * skills.
 */
export async function resolveOwner(
  tx: Tx,
  caller: Caller,
  { ownerType, projectId, clientId }: OwnerInput,
): Promise<SkillOwner> {
  if ((projectId !== undefined) !== (ownerType === "project"))
    throw invalidArgument("project_id", "is required with the owner type project, and allowed only with it");
  if ((clientId !== undefined) !== (ownerType === "app"))
    throw invalidArgument("client_id", "is required with the owner type app, and allowed only with it");
  const { accountId, spaceId } = caller;
  const owner: SkillOwner = {
    ownerType,
    spaceId,
    accountId,
    projectId: projectId ?? null,
    clientId: clientId ?? null,
  };
  await checkMayChange(tx, caller, owner);
  return owner;
}

/** A skill that the caller may change. @throws Failure `not_found` or `permission_denied`. */
export async function changeableSkill(tx: Tx, caller: Caller, id: string): Promise<Skill> {
  const skill = await tx.skills.byId(id);
  if (!skill) throw notFound("skill");
  await checkMayChange(tx, caller, skill).catch((thrown: unknown) => {
    throw thrown instanceof Failure && thrown.reason === "not_found" ? notFound("skill") : thrown;
  });
  return skill;
}

async function checkMayChange(
  tx: Tx,
  caller: Caller,
  { ownerType, spaceId, accountId, projectId, clientId }: SkillOwner,
): Promise<void> {
  if (ownerType === "official")
    throw new Failure("permission_denied", "official skills can be changed only by the operator");
  if (spaceId !== caller.spaceId || (ownerType === "personal" && accountId !== caller.accountId))
    throw notFound("skill");
  if (ownerType === "project" && !(await tx.projects.find(caller, projectId ?? "")))
    throw notFound("project", "project_id");
  if (ownerType === "app") checkEditable(await tx.apps.find(clientId ?? ""), caller);
  if (ownerType === "team") checkTeam(caller);
}

function checkTeam(caller: Caller): void {
  if (caller.role === null) throw invalidArgument("owner_type", "a personal space has no team");
  if (!mayEditAllApps(caller))
    throw new Failure(
      "permission_denied",
      "the team's skills can be changed by its owner, a super admin or an admin",
    );
}
