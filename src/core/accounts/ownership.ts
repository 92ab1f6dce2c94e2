import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, Failure } from "../failure.ts";
import type { RateCounters } from "../limits/counter.ts";
import type { Tx } from "../store.ts";

/** A proof of who somebody is counts for so long (contract/decisions.md 7). */
const proofMs = 5 * 60_000;
/** Passwords that a session may try a minute, whether RATE_LIMITS lifts other limits or not. */
const attemptsPerMinute = 10;

/** What the move of ownership needs of its surroundings. */
export interface OwnershipParts {
  readonly clock: Pick<Clock, "now">;
  readonly counters: Pick<RateCounters, "take">;
  /** True for the account's password. */
  readonly checkPassword: (accountId: string, password: string) => Promise<boolean>;
}

/** Moves a team to another owner (contract/decisions.md 7). */
export interface Ownership {
  /**
   * Before the change: the password is right, or was not given and the session was
   * begun or proved anew in the last five minutes.
   *
   * @throws Failure `precondition` for an older proof, `forbidden` for a wrong password,
   * `limited` for the 11th of a minute.
   */
  prove(caller: Caller, password: string): Promise<void>;
  /**
   * Makes a member the owner, and the caller a super admin.
   *
   * @throws Failure `absent` for nobody of the team, `precondition` for a member who is
   * no active super admin or admin, `forbidden` when the caller owns the team no more.
   */
  transfer(tx: Tx, caller: Caller, memberId: string): Promise<void>;
}

export function ownership({ clock, counters, checkPassword }: OwnershipParts): Ownership {
  async function countAttempt(accountId: string): Promise<void> {
    const now = clock.now();
    const minute = Math.floor(now / 60_000);
    const { granted } = await counters.take(`ownership ${accountId}`, minute, 1, attemptsPerMinute);
    const retryAfter = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
    if (granted === 0) throw new Failure("limited", "too many passwords tried", { retryAfter });
  }

  return {
    async prove({ accountId, credential }, password) {
      if (password !== "") {
        await countAttempt(accountId);
        if (!(await checkPassword(accountId, password))) throw new Failure("forbidden", "password: is wrong");
        return;
      }
      const provedAt = credential.kind === "session" ? credential.provedAt : 0;
      if (clock.now() - provedAt > proofMs) {
        throw new Failure("precondition", "prove who you are again: give the password, or repeat single sign-on");
      }
    },

    async transfer(tx, { accountId, spaceId }, memberId) {
      // One move at a time, and no enterprise key is made beside it.
      await tx.accounts.lockSpace(spaceId);
      const owner = await tx.accounts.ownerOf(spaceId);
      if (owner?.accountId !== accountId) throw new Failure("forbidden", "only the team's owner gives it away");
      const heir = await tx.accounts.memberById(spaceId, memberId);
      if (!heir || heir.status === "removed") throw absent("member");
      if (heir.status !== "active" || (heir.role !== "super_admin" && heir.role !== "admin")) {
        throw new Failure("precondition", "the new owner must be an active super admin or admin of the team");
      }
      // In this order: the team never has two owners, not even for a statement (membership_one_owner).
      await tx.accounts.setRole(owner.id, "super_admin");
      await tx.accounts.setRole(heir.id, "owner");
      // Enterprise keys are the tenant's, in the hand of its owner (contract/enterprise.md 1, contract/decisions.md 3):
      // they go on opening what they open, and from now on it is the new owner who sees and revokes them.
      await tx.keys.giveEnterprise(spaceId, owner.accountId, heir.accountId);
      tx.audit.note({ subject: heir.id, before: { owner: owner.id }, after: { owner: heir.id } });
    },
  };
}
