import { createHash } from "node:crypto";
import type { Clock } from "../clock.ts";
import type { CreationContext } from "../keys/api-key.ts";
import { countThisHour } from "../processes/hourly.ts";
import type { RateCounters } from "../processes/shared.ts";
import type { Tx } from "../store.ts";
import { linkDigest, newLinkText } from "./link.ts";
import { mailedLinkMs } from "./mailed-link.ts";
import type { CountAttempt } from "./prove.ts";

/**
 * Requests for a link in an hour: for a typed address, whether it has an account or not, and from the address
 * of a client.
 */
const perHour = { account: 5, address: 20 } as const;

/**
 * Counts a request for a link, before any other check, over all nodes. RATE_LIMITS changes nothing: the
 * limits bound the mails that a visitor can cause.
 *
 * @param network the part of an address that counts as one client.
 */
export function linkRequestCounter(
  counters: RateCounters,
  clock: Pick<Clock, "now">,
  network: (address: string) => string,
): CountAttempt {
  async function count(kind: keyof typeof perHour, subject: string): Promise<void> {
    // The digest bounds the key's length and keeps e-mail addresses out of it.
    const key = `mailed link ${kind} ${createHash("sha256").update(subject).digest("base64url")}`;
    await countThisHour(counters, clock.now(), {
      key,
      max: perHour[kind],
      refusal: "too many requests for a sign-in link",
    });
  }
  return async (email, address) => {
    await count("address", network(address));
    await count("account", email);
  };
}

export interface LinkRequest {
  /** Lower case. */
  readonly email: string;
  /** `browserDigest` of the browser that asks. */
  readonly browser: string;
  /** The path of the page that follows. */
  readonly next: string;
}

/**
 * The mail that answers a request: to the address of the account, with the link's text, or with null when the
 * person signs in at the provider.
 */
export interface LinkAnswer {
  readonly email: string;
  readonly text: string | null;
}

/**
 * Creates a link for the account of an address.
 *
 * @param hasProvider single sign-on is configured: an account without a password signs in there only
 * (spec/decisions.md 142).
 * @returns null, and no mail is sent, for an address without an account, and for an account that may sign in
 * nowhere.
 */
export async function createMailedLink(
  tx: Tx,
  { now, random }: Pick<CreationContext, "now" | "random">,
  { email: typed, browser, next }: LinkRequest,
  hasProvider: boolean,
): Promise<LinkAnswer | null> {
  const account = await tx.accounts.byEmail(typed);
  if (account === null || (await tx.signIns.listSpaces(account.id)).length === 0) return null;
  const { id: accountId, email } = account;
  if (hasProvider && (await tx.signIns.password(accountId)) === null) return { email, text: null };
  const text = newLinkText(random);
  await tx.mailedLinks.insert({
    digest: linkDigest(text),
    accountId,
    browser,
    next,
    expiresAt: now + mailedLinkMs,
  });
  return { email, text };
}
