import { appOf, type Caller } from "../caller.ts";
import { invalid } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { WantedMeans } from "../tasks/means.ts";
import type { SkillPlace } from "./skill.ts";

/**
 * Refuses skills that a message names and its task cannot have; one that names none costs nothing.
 * An app never learns of another's private skills, not even that there are any.
 *
 * @throws Failure `invalid` with the path of the first unknown id (contract/v2.md 14.2).
 */
export async function checkNamed(
  tx: Tx,
  caller: Caller,
  { accountId, spaceId, projectId, clientId }: SkillPlace,
  { skills, forced }: Pick<WantedMeans, "skills" | "forced">,
): Promise<void> {
  if (skills.length === 0 && forced.length === 0) return;
  const app = appOf(caller);
  const place = { accountId, spaceId, projectId, clientId: app === null || app === clientId ? clientId : null };
  const known = new Set((await tx.skills.visible(place)).map(({ id }) => id));
  for (const [path, ids] of [
    ["message.enable_skills", skills],
    ["message.force_skills", forced],
  ] as const) {
    const unknown = ids.findIndex((id) => !known.has(id));
    if (unknown >= 0) throw invalid(`${path}[${unknown}]`, `${ids[unknown]} is unknown`);
  }
}
