import type { Caller, CallerCredential } from "../caller.ts";
import { Failure } from "../failure.ts";
import type { Tx } from "../store.ts";

/** What a new call by the same credential would be told (contract/decisions.md 10). */
const refusals: Readonly<Record<CallerCredential["kind"], string>> = {
  key: "Invalid or missing API key",
  token: "Invalid or missing API key or access token: bearer token is invalid or revoked",
  session: "Invalid or missing API key or access token: missing authentication",
  worker: "Invalid or missing API key",
};

/**
 * Keeps the caller an active member until this change ends. Changes that make something run, or something that
 * lets somebody in, begin with it: whoever was let in before they were removed, deactivated or delegated makes
 * nothing that outlives that.
 *
 * @throws Failure `unauthenticated` for somebody who is that no more.
 */
export async function holdMember(tx: Pick<Tx, "members">, { accountId, spaceId, role, credential }: Caller): Promise<void> {
  // A personal space has no members.
  if (role === null || (await tx.members.hold({ accountId, spaceId }))) return;
  throw new Failure("unauthenticated", refusals[credential.kind]);
}
