import type { Caller } from "../caller.ts";
import { absent } from "../failure.ts";
import type { Tx } from "../store.ts";
import { changeableSkill } from "./shelf.ts";
import type { Skill, SkillView } from "./skill.ts";

/** How a skill is to be switched. */
export interface WantedSwitch {
  readonly enabled: boolean;
  /** Not for the caller's tasks alone. */
  readonly forEveryone: boolean;
}

/** The skill as the caller had it and has it now, and whom the switch was for. */
export interface Switched {
  readonly before: Skill;
  readonly after: Skill;
  readonly forEveryone: boolean;
}

/**
 * Switches a skill (contract/v2.md 9.10). What nobody else has is switched where it stands; of a team's and an official
 * one each account has a switch of its own.
 *
 * @throws Failure `absent` for what the caller does not have; `forbidden` for what is not the caller's to switch for everyone.
 */
export async function switchSkill(tx: Tx, caller: Caller, id: string, wanted: WantedSwitch, now: number): Promise<Switched> {
  const { enabled } = wanted;
  const shared = wanted.forEveryone ? undefined : await sharedWith(tx, caller, id);
  const before = shared ?? (await changeableSkill(tx, caller, id));
  const isThere = shared ? await tx.skills.choose(id, caller, enabled) : await tx.skills.setEnabled(id, enabled, now);
  if (!isThere) throw absent("skill");
  const after = shared ? { ...before, enabled } : { ...before, enabled, updatedAt: now };
  return { before, after, forEveryone: shared === undefined };
}

/** A skill that the caller has together with others. */
async function sharedWith(tx: Tx, { accountId, spaceId }: Caller, id: string): Promise<SkillView | undefined> {
  const visible = await tx.skills.visible({ accountId, spaceId, projectId: null, clientId: null });
  return visible.find((skill) => skill.id === id && (skill.ownerType === "team" || skill.ownerType === "official"));
}
