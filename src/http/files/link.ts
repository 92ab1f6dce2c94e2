import type { FastifyReply, FastifyRequest } from "fastify";
import type { Clock } from "../../core/clock.ts";
import { Failure } from "../../core/failure.ts";
import type { FileLinks, LinkKind, LinkParts, LinkState } from "../../core/files/links.ts";

/** The parts of a link, below its kind. */
export const linkPath = "/:fileId/:expires/:signature";

/** The path has these parts, as `linkPath` says. */
export const linkOf = ({ params }: FastifyRequest): LinkParts => params as LinkParts;

/**
 * Lets a request in that has a link of this installation.
 *
 * @throws Failure `wrong_method`, and `forbidden` for a link that is forged or over.
 */
export function checkLink(
  kind: LinkKind,
  methods: readonly string[],
  request: FastifyRequest,
  reply: FastifyReply,
  { links, clock }: { readonly links: FileLinks; readonly clock: Clock },
): void {
  checkMethod(methods, request, reply);
  checkLinkState(links.check(kind, linkOf(request), clock.now()));
}

/** @throws Failure `wrong_method` */
export function checkMethod(methods: readonly string[], request: FastifyRequest, reply: FastifyReply): void {
  if (methods.includes(request.method)) return;
  reply.header("Allow", methods.join(", "));
  throw new Failure("wrong_method", `this link takes ${methods.join(" or ")}`);
}

/** @throws Failure `forbidden` for a link that is forged or over. */
export function checkLinkState(state: LinkState): void {
  if (state === "forged") throw new Failure("forbidden", "the link is not valid");
  if (state === "expired") throw new Failure("forbidden", "the link has expired");
}
