import type { Clock } from "../clock.ts";
import type { PauseReason } from "../schedules/schedule.ts";
import type { SkillOwner } from "../skills/skill.ts";
import { deleteSkills } from "../skills/store-skill.ts";
import type { PublishTask, Tx } from "../store.ts";
import { stop } from "../tasks/lifecycle.ts";
import { stopSubtasks } from "../tasks/parents.ts";
import type { Ending } from "../teams/lifecycle.ts";
import type { MembershipEffects } from "../teams/team-user.ts";

/** An account in a space. */
interface Person {
  readonly accountId: string;
  readonly spaceId: string;
}

export interface EndingParts {
  readonly clock: Pick<Clock, "now">;
  readonly publishTask: PublishTask;
}

/** Counts for the audit log. */
export interface EndedMembership {
  readonly tasks: number;
  readonly keys: number;
  /** Paused schedules; absent without one. */
  readonly schedules?: number;
}

/**
 * Whether keys and webhooks end permanently too; sessions, tokens and codes always end (spec/decisions.md 5,
 * 6).
 */
const alsoEnds: Readonly<Record<Ending, { keys: boolean; webhooks: boolean }>> = {
  // Keys are refused while the member is inactive, and are valid again afterwards.
  deactivated: { keys: false, webhooks: false },
  delegated: { keys: true, webhooks: false },
  removed: { keys: true, webhooks: true },
};

/** Reactivation resumes no schedule. */
const pauseReasons: Readonly<Record<Ending, PauseReason>> = {
  deactivated: "member_deactivated",
  delegated: "profile_delegated",
  removed: "member_removed",
};

/**
 * Ends a person's access to a space, and their runs there. The membership's row was changed before this:
 * concurrent operations have ended or will be refused (`MemberRows.hold`), so none is missed.
 */
export async function endMembership(
  tx: Tx,
  parts: EndingParts,
  person: Person,
  ending: Ending,
): Promise<EndedMembership> {
  const now = parts.clock.now();
  const { accountId, spaceId } = person;
  const { keys: withKeys, webhooks } = alsoEnds[ending];
  await tx.sessions.endIn(accountId, spaceId);
  // Order: codes before tokens. This waits for a concurrent exchange; the next statement finds its tokens.
  await tx.codes.useUpAll(accountId, spaceId, now);
  await tx.devices.useUpAll(accountId, spaceId, now);
  await tx.families.revokeAll(accountId, spaceId, now);
  const keys = withKeys ? await revokePermanently(tx, person, now) : 0;
  if (webhooks) await tombstoneWebhooks(tx, person, now);
  if (ending === "removed") await deletePersonalSkills(tx, person, now);
  if (ending === "removed") await closeSites(tx, person);
  if (webhooks) await tombstoneConnectors(tx, person, now);
  const tasks = await stopTasks(tx, parts, person);
  // After the tasks: a run that ends locks its task before its schedule.
  const schedules = await tx.schedules.pauseAll(person, pauseReasons[ending], now);
  return { keys, tasks, ...(schedules === 0 ? {} : { schedules }) };
}

/** Counts what `endMembership` would end. */
export async function countEnding(
  tx: Tx,
  now: number,
  person: Person,
  ending: Ending,
): Promise<MembershipEffects> {
  const effects = await tx.members.countEffects(person, now);
  const { keys, webhooks } = alsoEnds[ending];
  return {
    ...effects,
    ...(keys ? {} : { keys: 0, grants: 0, links: 0 }),
    ...(webhooks ? {} : { webhooks: 0, connectors: 0, skills: 0 }),
  };
}

/**
 * Deletes personal skills, which no other member can use. Skills that the person added to the team, its
 * projects and its apps stay.
 */
async function deletePersonalSkills(tx: Tx, person: Person, now: number): Promise<void> {
  const own: SkillOwner = { ...person, ownerType: "personal", projectId: null, clientId: null };
  await deleteSkills(tx, await tx.skills.listOfOwner(own), now);
  await tx.skills.deleteChoices(person);
}

/**
 * Frees the domains of the person's websites, and takes the person off the lists of viewers. The websites
 * stay.
 */
async function closeSites(tx: Tx, person: Person): Promise<void> {
  await tx.domains.deleteOfMember(person);
  await tx.viewers.deleteOfMember(person);
}

async function revokePermanently(tx: Tx, { accountId, spaceId }: Person, now: number): Promise<number> {
  await tx.links.useUp(accountId, spaceId, now);
  await tx.grants.revokeAll(accountId, spaceId, now);
  await tx.apps.endService(accountId, spaceId);
  return tx.keys.revokeAll(accountId, spaceId, now);
}

/** Tombstones the person's webhooks. An app's webhook belongs to the app and the team, and stays. */
async function tombstoneWebhooks(tx: Tx, person: Person, now: number): Promise<void> {
  for (const { id } of await tx.webhooks.list(person)) await tx.webhooks.tombstone(id, now);
}

/** Tombstones the person's own connectors. The space's connectors stay. */
async function tombstoneConnectors(tx: Tx, person: Person, now: number): Promise<void> {
  for (const { id, accountId } of await tx.connectors.list(person))
    if (accountId !== null) await tx.connectors.tombstone(id, now);
}

/**
 * Stops tasks as task.stop does, so that watchers and webhooks are notified. A task that has just ended stays
 * as it is.
 */
async function stopTasks(tx: Tx, { clock, publishTask }: EndingParts, person: Person): Promise<number> {
  let stopped = 0;
  for (const id of await tx.tasks.listRunning(person)) {
    const written = await tx.tasks.advance(id, { now: clock.now(), when: { status: "running" }, ...stop });
    if (!written) continue;
    stopped += 1;
    // A subtask that began since the list was read is not in it.
    await stopSubtasks(tx, await publishTask(tx, written));
  }
  return stopped;
}
