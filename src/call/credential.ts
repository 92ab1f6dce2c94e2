import type { Caller } from "../core/caller.ts";
import type { Clock } from "../core/clock.ts";
import { Failure, invalid } from "../core/failure.ts";
import { isKeyText, type KeyHolder, keyDigest } from "../core/keys/api-key.ts";
import type { Tx } from "../core/store.ts";

/** What a request showed, before anything of it is believed. */
export interface Presented {
  /** The key headers' values; the same key in two headers stands once. */
  readonly keys: readonly string[];
  /** The text behind `Bearer`, or null. */
  readonly bearer: string | null;
}

/** Every refusal of a credential begins so (contract/decisions.md 10). */
const missing = "Invalid or missing API key";
const refusal = (why?: string) => new Failure("unauthenticated", why === undefined ? missing : `${missing} or access token: ${why}`);

/** Headers that carry an API key; the public name and the enterprise one are aliases (contract/v2.md 2, enterprise.md 1). */
const keyHeaders = ["x-service-api-key", "x-manus-api-key", "x-api-key"] as const;

/** Reads the credential headers; `header` takes a lower-case name, and gives a header that stands twice joined by commas. */
export function presented(header: (name: string) => string | null | undefined): Presented {
  const values = keyHeaders.flatMap((name) => header(name)?.split(",") ?? []);
  const keys = new Set(values.map((key) => key.trim()).filter((key) => key !== ""));
  const bearer = /^Bearer +(\S+) *$/i.exec(header("authorization") ?? "");
  return { keys: [...keys], bearer: bearer?.[1] ?? null };
}

/**
 * Who calls. One statement for a key; a mistyped one costs none.
 *
 * @throws Failure `unauthenticated` for no, a bad, an expired or a revoked
 * credential, `invalid` for two different ones (contract/decisions.md 9, 10, 12).
 */
export async function identify({ keys, bearer }: Presented, store: Tx, clock: Clock): Promise<Caller> {
  const [key, other] = keys;
  const second = other ?? (key === undefined ? null : bearer);
  if (second !== null && second !== key) throw invalid("", "a request carries one credential, this one carries two");
  if (key === undefined) throw refusal(bearer === null ? "missing authentication" : "invalid token");
  const holder = isKeyText(key) ? await store.keys.holder(keyDigest(key)) : null;
  if (holder === null || !opens(holder, clock.now())) throw refusal();
  return callerOf(holder);
}

/** Revoked, expired, or its holder is not an active member: it opens nothing (contract/decisions.md 6). */
function opens({ key, member }: KeyHolder, now: number): boolean {
  const living = key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
  return living && (member === null || member.status === "active");
}

const callerOf = ({ key, member, locale }: KeyHolder): Caller => ({
  accountId: key.accountId,
  spaceId: key.spaceId,
  credential: { kind: "key", keyKind: key.kind, id: key.id },
  role: member?.role ?? null,
  locale,
});
