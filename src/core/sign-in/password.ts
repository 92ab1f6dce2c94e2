import { invalid } from "../failure.ts";
import type { Tx } from "../store.ts";
import { isPassword } from "./password-hash.ts";

const lengthMin = 12;
const lengthMax = 1024;

/** The rule in words, for pages. */
export const passwordRule = `${lengthMin} to ${lengthMax} characters`;

/** @throws Failure `invalid` for a new password that is too short or too long; characters are counted after NFKC. */
export function checkNewPassword(text: string): void {
  const length = [...text.normalize("NFKC")].length;
  if (length < lengthMin || length > lengthMax) throw invalid("password", `must have ${passwordRule}`);
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
