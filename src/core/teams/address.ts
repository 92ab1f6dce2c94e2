import { invalid } from "../failure.ts";

/** As the field rules of the wires have it; what is before the @ is no longer than RFC 5321 allows. */
const form = /^[a-z0-9.!#$%&'*+/=?^_`{|}~-]{1,64}@[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/;
const lengthMax = 254;

/** The address of a profile while it is delegated: nobody reads mail there (contract/enterprise.md 5, 13). */
export const delegateAddress = (id: string, domain: string): string => `delegate-${id}@${domain}`.toLowerCase();

/**
 * An address of a new member, in lower case: upper and lower case name the same person.
 *
 * @throws Failure `invalid` for no address, and for one of those that delegated profiles get.
 */
export function readAddress(text: string, delegateDomain: string): string {
  const email = text.toLowerCase();
  if (email.length > lengthMax || !form.test(email)) throw invalid("email", "must be an e-mail address of at most 254 characters");
  if (email.startsWith("delegate-") && email.endsWith(`@${delegateDomain}`)) {
    throw invalid("email", "is an address of delegated profiles");
  }
  return email;
}
