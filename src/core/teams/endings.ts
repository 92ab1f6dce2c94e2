import type { Clock } from "../clock.ts";
import { dropSkills } from "../skills/keep.ts";
import type { SkillShelf } from "../skills/skill.ts";
import type { Tx } from "../store.ts";
import { stop } from "../tasks/lifecycle.ts";
import type { Ending } from "./lifecycle.ts";

/** Whose, and where. */
interface Person {
  readonly accountId: string;
  readonly spaceId: string;
}

/** How much ended; for the audit log. */
export interface Ended {
  readonly tasks: number;
  readonly keys: number;
}

/** What ends beside sessions, tokens and codes, which always end, for good (contract/decisions.md 5, 6). */
const also: Readonly<Record<Ending, { readonly keys: boolean; readonly webhooks: boolean }>> = {
  // Keys are refused while the member is inactive, and work again afterwards.
  deactivated: { keys: false, webhooks: false },
  delegated: { keys: true, webhooks: false },
  removed: { keys: true, webhooks: true },
};

/**
 * Ends what a person can do in a space, and what runs for them there. The row of the membership was changed
 * before: whatever was under way beside it has ended or will be refused (`MemberRows.hold`), so nothing slips through.
 */
export async function endFor(tx: Tx, clock: Pick<Clock, "now">, person: Person, ending: Ending): Promise<Ended> {
  const now = clock.now();
  const { accountId, spaceId } = person;
  const { keys: withKeys, webhooks } = also[ending];
  await tx.sessions.endIn(accountId, spaceId);
  // Codes before what they give: an exchange that is under way is waited for here, and its tokens are found below.
  await tx.codes.useUpOf(accountId, spaceId, now);
  await tx.families.revokeOf(accountId, spaceId, now);
  const keys = withKeys ? await endForGood(tx, person, now) : 0;
  if (webhooks) await buryWebhooks(tx, person, now);
  if (ending === "removed") await buryOwnSkills(tx, person, now);
  if (webhooks) await buryConnectors(tx, person, now);
  return { keys, tasks: await stopTasks(tx, clock, person) };
}

/** Nobody else could ever use them. What the person brought to the team, its projects and its apps stays. */
async function buryOwnSkills(tx: Tx, person: Person, now: number): Promise<void> {
  const own: SkillShelf = { ...person, ownerType: "personal", projectId: null, clientId: null };
  await dropSkills(tx, await tx.skills.onShelf(own), now);
  await tx.skills.forgetChoices(person);
}

async function endForGood(tx: Tx, { accountId, spaceId }: Person, now: number): Promise<number> {
  await tx.links.useUp(accountId, spaceId, now);
  await tx.grants.revokeAll(accountId, spaceId, now);
  return tx.keys.revokeAll(accountId, spaceId, now);
}

/** An app's webhook is the app's, and the team's: it stays. */
async function buryWebhooks(tx: Tx, person: Person, now: number): Promise<void> {
  for (const { id } of await tx.webhooks.list(person)) await tx.webhooks.bury(id, now);
}

/** What the person has signed in to opens nothing any more; what is the whole space's stays. */
async function buryConnectors(tx: Tx, person: Person, now: number): Promise<void> {
  for (const { id, accountId } of await tx.connectors.list(person)) if (accountId !== null) await tx.connectors.bury(id, now);
}

/** As task.stop does, so that watchers and webhooks hear of it. One that has just ended by itself stays as it is. */
async function stopTasks(tx: Tx, clock: Pick<Clock, "now">, person: Person): Promise<number> {
  let stopped = 0;
  for (const id of await tx.tasks.runningOf(person)) {
    const step = { now: clock.now(), when: { status: "running" }, set: stop.set, events: stop.events } as const;
    if (await tx.tasks.advance(id, step)) stopped += 1;
  }
  return stopped;
}
