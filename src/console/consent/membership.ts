import type { Place } from "../../core/sign-in/sign-in.ts";
import type { Tx } from "../../core/store.ts";

/** The team of a space, to somebody who is active in it. */
export type Membership = NonNullable<Place["team"]>;

/**
 * The account's place in an app's team, whatever space its session is in; null for
 * everybody else, and in a personal space (contract/decisions.md 28).
 */
export async function membershipIn(tx: Pick<Tx, "signIns">, accountId: string, spaceId: string): Promise<Membership | null> {
  const places = await tx.signIns.places(accountId);
  return places.find((place) => place.spaceId === spaceId)?.team ?? null;
}
