import type { Caller } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { SignInSpace } from "./sign-in.ts";

/** A space that the caller's account may act in. */
export interface ListedSpace extends SignInSpace {
  /** The session of the call acts in it. */
  readonly isCurrent: boolean;
}

/** The spaces of the caller's account (spec/decisions.md 80). */
export interface OwnSpaces {
  /** The personal space first, then teams by name. */
  list(tx: Tx, caller: Caller): Promise<readonly ListedSpace[]>;
  /**
   * Moves the session of the call to another space of its account.
   *
   * @throws Failure `not_found` for a space that the account may not act in, `failed_precondition` when
   * another change moved or ended the session.
   */
  switchTo(tx: Tx, caller: Caller, spaceId: string): Promise<ListedSpace>;
}

export const ownSpaces = (clock: Pick<Clock, "now">): OwnSpaces => ({
  async list(tx, { accountId, spaceId }) {
    const spaces = await tx.signIns.listSpaces(accountId);
    return spaces.map((space) => ({ ...space, isCurrent: space.spaceId === spaceId }));
  },

  async switchTo(tx, { accountId, spaceId: from, credential }, to) {
    // A removal of the member waits for this change, and then ends the session in the new space; one that
    // came first leaves no space.
    await tx.accounts.lock(accountId);
    const space = (await tx.signIns.listSpaces(accountId)).find(({ spaceId }) => spaceId === to);
    if (!space || (space.team && !(await tx.members.lockActive({ accountId, spaceId: to }))))
      throw notFound("space");
    const now = clock.now();
    if (!(await tx.sessions.move({ id: credential.id, accountId }, { from, to }, now)))
      throw new Failure(
        "failed_precondition",
        "the session was moved or ended by another call: read ListSpaces again",
      );
    if (space.team) await tx.signIns.recordFirstSignIn(space.team.memberId, now);
    // No team's log has the id of another space of a member.
    const [here, away] = [{ current: true }, { current: false }];
    tx.audit.note({ subject: credential.id, before: here, after: to === from ? here : away });
    if (to !== from) tx.audit.note({ alsoIn: { spaceId: to, before: away, after: here } });
    return { ...space, isCurrent: true };
  },
});
