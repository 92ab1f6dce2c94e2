import type { FastifyRequest } from "fastify";
import { compareGroups, followGroups } from "../core/use-cases/follow-groups.ts";
import { type ConsoleParts, creationContext, requestOrigin } from "./parts.ts";

/** The groups in the claims of a person, or why the claim cannot be used. */
export type ClaimedGroups = { readonly names: ReadonlySet<string> } | { readonly unusable: string };

/** The most groups in a claim, and their bytes together. */
const namesMax = 1000;
const bytesMax = 64 * 1024;

/**
 * Reads the claim with a person's groups: a text or a list of texts. Without the claim the person is in no group, unless the
 * provider says that it sends the groups in another way (OpenID Connect Core 5.6.2).
 */
export function readClaimedGroups(claims: Readonly<Record<string, unknown>>, claim: string): ClaimedGroups {
  const value = Object.hasOwn(claims, claim) ? claims[claim] : undefined;
  if (value === undefined) return isElsewhere(claims, claim) ? { unusable: "the provider sends it in another way" } : { names: new Set() };
  const names: readonly unknown[] = Array.isArray(value) ? value : [value];
  if (names.length > namesMax) return { unusable: `it has more than ${namesMax} groups` };
  if (!names.every((name) => typeof name === "string")) return { unusable: "it is no list of texts" };
  if (names.reduce((sum, name) => sum + Buffer.byteLength(name), 0) > bytesMax) return { unusable: `it has more than ${bytesMax} bytes` };
  return { names: new Set(names) };
}

/** Whether the claim is distributed or aggregated: providers do so when a person has too many groups. */
function isElsewhere({ _claim_names: names }: Readonly<Record<string, unknown>>, claim: string): boolean {
  return typeof names === "object" && names !== null && Object.hasOwn(names, claim);
}

/** Unknown groups that a process logs; each once. */
const loggedMax = 1000;
const shownMax = 100;

/** Makes the groups of a person those of the claim, in each of the person's teams. */
export type FollowClaimedGroups = (request: FastifyRequest, accountId: string, groups: ClaimedGroups) => Promise<void>;

export function claimedGroupsFollower(parts: ConsoleParts): FollowClaimedGroups {
  const { store, log } = parts;
  const logged = new Set<string>();

  function logUnknown(names: Iterable<string>): void {
    for (const name of names) {
      if (logged.has(name) || logged.size >= loggedMax) continue;
      logged.add(name);
      log("info", "a group of the identity provider is in no team of the person", { group: name.slice(0, shownMax) });
    }
  }

  return async (request, accountId, claimed) => {
    if ("unusable" in claimed) return log("warn", "the claim with groups is not used", { reason: claimed.unusable });
    const { names } = claimed;
    const unknown = new Set(names);
    for (const { spaceId, team } of await store.signIns.listSpaces(accountId)) {
      if (team === null) continue;
      const claim = { accountId, spaceId, memberId: team.memberId, names };
      const { named, joined, left } = await compareGroups(store, claim);
      const known = new Set(named.flatMap(({ displayName, externalId }) => [displayName.toLowerCase(), externalId]));
      for (const name of unknown) if (known.has(name) || known.has(name.toLowerCase())) unknown.delete(name);
      if (joined.length + left.length > 0)
        await store.change((tx) => followGroups(tx, creationContext(parts), claim, requestOrigin(parts, request)));
    }
    logUnknown(unknown);
  };
}
