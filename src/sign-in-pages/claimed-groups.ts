import type { FastifyRequest } from "fastify";
import { compareGroups, followGroups } from "../core/use-cases/follow-groups.ts";
import type { ClaimedGroups } from "./group-claim.ts";
import { type ConsoleParts, creationContext, requestOrigin } from "./parts.ts";

/** Unknown groups that a process logs; each once. */
const loggedMax = 1000;
const shownMax = 100;

/** Makes the groups of a person those of the claim, in each of the person's teams. */
export type FollowClaimedGroups = (
  request: FastifyRequest,
  accountId: string,
  groups: ClaimedGroups,
) => Promise<void>;

export function claimedGroupsFollower(parts: ConsoleParts): FollowClaimedGroups {
  const { store, log } = parts;
  const logged = new Set<string>();

  function logUnknown(names: Iterable<string>): void {
    for (const name of names) {
      if (logged.has(name) || logged.size >= loggedMax) continue;
      logged.add(name);
      log("info", "a group of the identity provider is in no team of the person", {
        group: name.slice(0, shownMax),
      });
    }
  }

  return async (request, accountId, claimed) => {
    if ("unusable" in claimed)
      return log("warn", "the claim with groups is not used", { reason: claimed.unusable });
    const { names } = claimed;
    const unknown = new Set(names);
    for (const { spaceId, team } of await store.signIns.listSpaces(accountId)) {
      if (team === null) continue;
      const claim = { accountId, spaceId, memberId: team.memberId, names };
      const { named, joined, left } = await compareGroups(store, claim);
      const known = new Set(
        named.flatMap(({ displayName, externalId }) => [displayName.toLowerCase(), externalId]),
      );
      for (const name of unknown) if (known.has(name) || known.has(name.toLowerCase())) unknown.delete(name);
      if (joined.length + left.length > 0)
        await store.change((tx) =>
          followGroups(tx, creationContext(parts), claim, requestOrigin(parts, request)),
        );
    }
    logUnknown(unknown);
  };
}
