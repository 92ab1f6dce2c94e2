import type { FastifyRequest } from "fastify";

/**
 * The last part of a route that serves several names, each of letters, digits, `.` and `_`. Fastify compiles
 * every route for every HTTP method at each start, so one route for all operations of a prefix starts faster
 * than one for each. Other names are unknown addresses.
 */
export const oneOf = (names: Iterable<string>): string =>
  `:name(^${[...names].join("|").replaceAll(".", "\\.")}$)`;

export const nameIn = ({ params }: Pick<FastifyRequest, "params">): string =>
  (params as { name: string }).name; // `oneOf` names the parameter.
