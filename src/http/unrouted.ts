import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";

/** Sends a refusal in the form of a wire. */
export type Refuse = (request: FastifyRequest, reply: FastifyReply, thrown: unknown) => FastifyReply;

/** The addresses of a protocol, and its form for requests to them that reach no route. */
export interface ProtocolAddress {
  /** The address; with a slash at its end all addresses below it. */
  readonly address: string;
  /** HTTP methods of the address. */
  readonly methods: readonly string[];
  readonly refuse: Refuse;
}

/** Another protocol: registers its routes, and returns their addresses. */
export type ProtocolRoutes = (app: FastifyInstance) => readonly ProtocolAddress[];

/**
 * Refusals of requests that reach no route, because their URL is malformed or their method is one that no
 * route has.
 */
export interface Unrouted {
  readonly add: (addresses: readonly ProtocolAddress[]) => void;
  /** Refuses in the form of the protocol at the address, or else by `otherwise`. */
  readonly refuse: (
    request: FastifyRequest,
    reply: FastifyReply,
    otherwise: Refuse,
    thrown: unknown,
  ) => FastifyReply;
}

export function unrouted(): Unrouted {
  const protocols: ProtocolAddress[] = [];
  return {
    add: (addresses) => void protocols.push(...addresses),
    refuse(request, reply, otherwise, thrown) {
      const path = request.url.replace(/\?.*$/s, "");
      const protocol = protocols.find(({ address }) =>
        address.endsWith("/") ? path.startsWith(address) : path === address,
      );
      if (!protocol) return otherwise(request, reply, thrown);
      if (!(thrown instanceof Failure) || thrown.reason !== "not_found")
        return protocol.refuse(request, reply, thrown);
      const allowed = protocol.methods.join(", ");
      reply.header("Allow", allowed);
      return protocol.refuse(
        request,
        reply,
        new Failure("method_not_allowed", `the address accepts ${allowed}`),
      );
    },
  };
}
