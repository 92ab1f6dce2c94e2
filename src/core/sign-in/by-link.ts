import type { Making } from "../keys/make-key.ts";
import type { Tx } from "../store.ts";
import { enter, type From } from "./enter.ts";
import { isLinkText, linkDigest, linkMs, newLinkText } from "./link.ts";
import type { Session } from "./session.ts";

/** An account in a space. */
interface Guest {
  readonly accountId: string;
  readonly spaceId: string;
}

/** Makes a link that signs an account in to a space, once. Its text is in the answer, and nowhere else ever again. */
export async function makeLink(
  tx: Tx,
  { now, random }: Pick<Making, "now" | "random">,
  { accountId, spaceId }: Guest,
  lifeMs = linkMs,
): Promise<string> {
  const text = newLinkText(random);
  await tx.links.insert({ digest: linkDigest(text), accountId, spaceId, createdAt: now, expiresAt: now + lifeMs });
  return text;
}

/** What a link answers that leads nowhere: why is nobody's business. */
class DeadLink extends Error {}

/**
 * Uses a link up and signs its account in. Other links of the account to this space
 * are used up with it. A link of somebody who may not enter stays as it is.
 *
 * @param change runs the transaction: it leaves nothing behind when the link is refused.
 * @returns the cookie's text; null for a link that was used, is too old, or never was.
 */
export async function signInByLink(
  change: <T>(work: (tx: Tx) => Promise<T>) => Promise<T>,
  making: () => Making,
  text: string,
  visit: { readonly from: From; readonly replaced: Session | null },
): Promise<string | null> {
  if (!isLinkText(text)) return null;
  try {
    return await change(async (tx) => {
      const made = making();
      const link = await tx.links.use(linkDigest(text), made.now);
      if (!link) throw new DeadLink();
      await tx.links.useUp(link.accountId, link.spaceId, made.now);
      const proven = { accountId: link.accountId, provedAt: made.now, by: "link", password: null } as const;
      const session = await enter(tx, made, proven, link.spaceId, visit);
      if (session === null) throw new DeadLink();
      return session;
    });
  } catch (thrown) {
    if (thrown instanceof DeadLink) return null;
    throw thrown;
  }
}
