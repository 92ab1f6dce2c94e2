import { auditCommand } from "../audit/audit.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { createLink, firstLinkMs } from "../sign-in/link.ts";
import type { Tx } from "../store.ts";

/**
 * Creates the link by which the first team's owner signs in to a new installation, and its audit row. It is
 * valid for 15 minutes, once, and only before the first sign-in (spec/decisions.md 90).
 *
 * @returns the link's secret, which is stored nowhere; null when a user has signed in, or the team has no
 * owner.
 */
export async function createFirstLink(tx: Tx, context: CreationContext): Promise<string | null> {
  if (await tx.signIns.hasSignIns()) return null;
  const team = await tx.accounts.firstTeam();
  const owner = team && (await tx.accounts.owner(team.id));
  if (!owner) return null;
  const link = await createLink(tx, context, owner, { lifeMs: firstLinkMs, isFirst: true });
  await auditCommand(tx, context, owner, "console/Invite");
  return link;
}
