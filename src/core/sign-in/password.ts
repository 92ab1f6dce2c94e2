import type { Tx } from "../store.ts";
import { isPassword } from "./password-hash.ts";

const lengthMin = 12;
const lengthMax = 1024;

/** The rule in words, for pages. */
export const passwordRule = `${lengthMin} to ${lengthMax} characters`;

/** True for a new password that is neither too short nor too long; characters are counted after NFKC. */
export function isNewPassword(text: string): boolean {
  const length = [...text.normalize("NFKC")].length;
  return length >= lengthMin && length <= lengthMax;
}

/**
 * True when this is the account's password. An account without one, or that is not
 * there, costs the same work. Attempts are not counted here.
 *
 * @throws Failure `unavailable` when too many others are being checked.
 */
export async function checkPassword(store: Pick<Tx, "signIns">, accountId: string, text: string): Promise<boolean> {
  return isPassword(text, await store.signIns.password(accountId));
}
