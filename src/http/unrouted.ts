import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Failure } from "../core/failure.ts";

/** Sends a refusal in the form of a wire. */
export type Refuse = (request: FastifyRequest, reply: FastifyReply, thrown: unknown) => FastifyReply;

/** The addresses of a door, and its form for requests to them that reach no route. */
export interface DoorAddress {
  /** The address; with a slash at its end all addresses below it. */
  readonly address: string;
  /** HTTP methods of the address. */
  readonly methods: readonly string[];
  readonly refuse: Refuse;
}

/** A door of another protocol: registers its routes, and returns their addresses. */
export type Door = (app: FastifyInstance) => readonly DoorAddress[];

/** Refusals of requests that reach no route, because their URL is malformed or their method is one that no route has. */
export interface Unrouted {
  readonly add: (addresses: readonly DoorAddress[]) => void;
  /** Refuses in the form of the door at the address, or else by `otherwise`. */
  readonly refuse: (request: FastifyRequest, reply: FastifyReply, otherwise: Refuse, thrown: unknown) => FastifyReply;
}

export function unrouted(): Unrouted {
  const doors: DoorAddress[] = [];
  return {
    add: (addresses) => void doors.push(...addresses),
    refuse(request, reply, otherwise, thrown) {
      const path = request.url.replace(/\?.*$/s, "");
      const door = doors.find(({ address }) => (address.endsWith("/") ? path.startsWith(address) : path === address));
      if (!door) return otherwise(request, reply, thrown);
      if (!(thrown instanceof Failure) || thrown.reason !== "not_found") return door.refuse(request, reply, thrown);
      const allowed = door.methods.join(", ");
      reply.header("Allow", allowed);
      return door.refuse(request, reply, new Failure("method_not_allowed", `the address accepts ${allowed}`));
    },
  };
}
