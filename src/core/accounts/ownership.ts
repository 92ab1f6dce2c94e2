import type { Clock } from "../clock.ts";
import { Failure, notFound } from "../failure.ts";
import type { RateCounters } from "../processes/shared.ts";
import type { Tx } from "../store.ts";
import type { Caller } from "./caller.ts";

/** How long a proof of identity is valid (spec/decisions.md 7). */
export const proofMs = 5 * 60_000;
/** Password attempts per account and minute. RATE_LIMITS does not change this limit. */
const attemptsPerMinute = 10;

export interface OwnershipParts {
  readonly clock: Pick<Clock, "now">;
  readonly counters: Pick<RateCounters, "take">;
  /** True for the account's password. */
  readonly checkPassword: (accountId: string, password: string) => Promise<boolean>;
}

/** Transfers a team to another owner (spec/decisions.md 7). */
export interface Ownership {
  /**
   * Checks the caller's identity before the change: the password is right, or it is empty
   * and the session began or was proved again in the last five minutes.
   *
   * @throws Failure `failed_precondition` for an older proof, `permission_denied` for a wrong password,
   * `rate_limited` for the 11th attempt in a minute.
   */
  prove(caller: Caller, password: string): Promise<void>;
  /**
   * Makes a member the owner, and the caller a super admin.
   *
   * @throws Failure `not_found` if the team has no such member, `failed_precondition` if the member is
   * not an active super admin or admin, `permission_denied` if the caller no longer owns the team.
   */
  transfer(tx: Tx, caller: Caller, memberId: string): Promise<void>;
}

export function ownership({ clock, counters, checkPassword }: OwnershipParts): Ownership {
  async function countAttempt(accountId: string): Promise<void> {
    const now = clock.now();
    const minute = Math.floor(now / 60_000);
    const { granted } = await counters.take(`ownership ${accountId}`, minute, 1, attemptsPerMinute);
    const retryAfter = Math.ceil(((minute + 1) * 60_000 - now) / 1000);
    if (granted === 0) throw new Failure("rate_limited", "too many passwords tried", { retryAfter });
  }

  return {
    async prove({ accountId, credential }, password) {
      if (password !== "") {
        await countAttempt(accountId);
        if (!(await checkPassword(accountId, password)))
          throw new Failure("permission_denied", "password: is wrong");
        return;
      }
      const provedAt = credential.kind === "session" ? credential.provedAt : 0;
      if (clock.now() - provedAt > proofMs) {
        throw new Failure(
          "failed_precondition",
          "confirm your identity again: enter the password, or repeat single sign-on",
        );
      }
    },

    async transfer(tx, { accountId, spaceId }, memberId) {
      // One transfer at a time, and no enterprise key is created during it.
      await tx.accounts.lockSpace(spaceId);
      const owner = await tx.accounts.ownerOf(spaceId);
      if (owner?.accountId !== accountId)
        throw new Failure("permission_denied", "only the team's owner can transfer it");
      const newOwner = await tx.accounts.memberById(spaceId, memberId);
      if (!newOwner || newOwner.status === "removed") throw notFound("member");
      if (newOwner.status !== "active" || (newOwner.role !== "super_admin" && newOwner.role !== "admin")) {
        throw new Failure(
          "failed_precondition",
          "the new owner must be an active super admin or admin of the team",
        );
      }
      // In this order, a team never has two owners (membership_one_owner).
      await tx.accounts.setRole(owner.id, "super_admin");
      await tx.accounts.setRole(newOwner.id, "owner");
      // Enterprise keys belong to the tenant and are managed by its owner (spec/enterprise.md 1,
      // spec/decisions.md 3): their access does not change; from now on the new owner sees and revokes them.
      await tx.keys.transferEnterprise(spaceId, owner.accountId, newOwner.accountId);
      tx.audit.note({ subject: newOwner.id, before: { owner: owner.id }, after: { owner: newOwner.id } });
    },
  };
}
