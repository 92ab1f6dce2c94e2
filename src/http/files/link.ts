import type { FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { FileLinks, LinkKind, LinkParts, LinkState } from "../../core/files/links.ts";

/** The parts of a link after the prefix of its kind. */
export const linkPath = "/:fileId/:expires/:signature";

/** The parts of a request's link; the route has the path `linkPath`. */
const linkOf = ({ params }: FastifyRequest): LinkParts => params as LinkParts;

/**
 * Returns the parts of a request's link. @throws Failure `permission_denied` for a forged or expired link.
 */
export function checkLink(
  kind: LinkKind,
  request: FastifyRequest,
  { links, clock }: { links: FileLinks; clock: Clock },
): LinkParts {
  const link = linkOf(request);
  checkLinkState(links.check(kind, link, clock.now()));
  return link;
}

/** The refusal of other methods. */
export const wrongMethod = {
  text: (allowed: readonly string[]) => `this link accepts ${allowed.join(" or ")}`,
};

/** @throws Failure `permission_denied` for a forged or expired link. */
export function checkLinkState(state: LinkState): void {
  if (state === "forged") throw new Failure("permission_denied", "the link is not valid");
  if (state === "expired") throw new Failure("permission_denied", "the link has expired");
}
