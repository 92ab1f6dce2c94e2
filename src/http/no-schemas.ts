import type { FastifyServerOptions } from "fastify";

const unused = () => () => {
  throw new Error("no route has a schema of Fastify");
};

/** For servers whose routes have no schemas of Fastify: otherwise each loads two compilers and Ajv. */
export const noSchemas: NonNullable<FastifyServerOptions["schemaController"]> = {
  compilersFactory: { buildValidator: unused, buildSerializer: unused },
};
