import { Failure, notFound } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Scope } from "./caller.ts";

/**
 * Makes an account an operator of the installation, or takes that away. Only commands call it: no operation,
 * SCIM request or identity provider can (spec/decisions.md 91).
 *
 * @returns a space of the account, for the audit row.
 * @throws Failure `not_found` for an unknown address, `failed_precondition` for an account that has no space
 * to sign in to.
 */
export async function setOperator(tx: Tx, email: string, operator: boolean): Promise<Scope> {
  const account = await tx.accounts.byEmail(email.trim().toLowerCase());
  if (account === null) throw notFound(`an account of ${email}`);
  const [space] = await tx.signIns.listSpaces(account.id);
  if (space === undefined)
    throw new Failure("failed_precondition", `${email} cannot sign in: the account has no space`);
  await tx.accounts.setOperator(account.id, operator);
  tx.audit.note({ subject: account.id, after: { operator } });
  return { accountId: account.id, spaceId: space.spaceId };
}
