import type { Caller } from "../accounts/caller.ts";
import { Failure, invalidArgument, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";

const form = /^(?!\s)[^\p{Cc}\p{Cs}]{1,100}(?<!\s)$/u;

/** @param path the field of the name. @throws Failure `invalid_argument` */
export function checkTeamName(path: string, name: string): void {
  if (!form.test(name))
    throw invalidArgument(
      path,
      "must have 1 to 100 characters, no control characters, and no space at either end",
    );
}

/**
 * Renames the caller's team.
 *
 * @throws Failure `invalid_argument`, `already_exists` for the name of another team, `not_found` in a
 * personal space.
 */
export async function renameTeam(tx: Tx, { spaceId }: Caller, name: string): Promise<string> {
  checkTeamName("name", name);
  // Teams are created and renamed sequentially, so that two never take a name at the same time.
  const first = await tx.accounts.firstTeam();
  if (first) await tx.accounts.lockSpace(first.spaceId);
  await tx.accounts.lockSpace(spaceId);
  const team = await tx.accounts.teamOf(spaceId);
  if (team === null) throw notFound("team");
  const holder = await tx.accounts.teamByName(name);
  if (holder !== null && holder.id !== team.id)
    throw new Failure("already_exists", "name: is already used by a team");
  await tx.accounts.renameTeam(team.id, name);
  tx.audit.note({ subject: team.id, before: { name: team.name }, after: { name } });
  return name;
}
