import type { Tx } from "../store.ts";
import type { GrantKey } from "./grant.ts";

/** Which of an app's connectors a user lets it use from now on. */
export interface ConnectorChoice extends GrantKey {
  /** All that stay granted; those that the app does not have are passed over. */
  readonly connectorUids: readonly string[];
  readonly now: number;
}

/**
 * Puts a choice in the place of the grant's; tokens have the new one by their next
 * call (contract/oauth.md 3). The caller writes the audit row, with what is noted here.
 *
 * @returns false when there is no such living grant, or no such app in the space.
 */
export async function chooseConnectors(tx: Tx, { connectorUids: chosen, now, ...key }: ConnectorChoice): Promise<boolean> {
  const { clientId, spaceId } = key;
  // Approvals take the same lock: none of the two undoes the other.
  const app = await tx.apps.lock(clientId);
  const grant = await tx.grants.find(key);
  if (app?.spaceId !== spaceId || grant === null) return false;
  const connectorUids = app.connectorUids.filter((uid) => chosen.includes(uid));
  await tx.grants.update({ ...grant, connectorUids, updatedAt: now });
  const told = (uids: readonly string[]) => ({ clientId, connectorUids: uids });
  tx.audit.note({ subject: grant.id, before: told(grant.connectorUids), after: told(connectorUids) });
  return true;
}
