import { fastifyConnectPlugin } from "@connectrpc/connect-fastify";
import type { FastifyInstance, FastifyRequest, RouteHandlerMethod } from "fastify";
import { nameIn, oneOf } from "./wire/names.ts";

declare module "fastify" {
  interface FastifyContextConfig {
    /** The path of the service whose methods a route serves, with slashes around its name. */
    servicePath?: string;
  }
}

/**
 * Serves the handlers of connect-es: one route for each service, where its plugin has one for each method
 * (`oneOf` has the reason).
 */
export async function connectServices(
  app: FastifyInstance,
  options: Parameters<typeof fastifyConnectPlugin>[1],
): Promise<void> {
  const services = new Map<string, Map<string, RouteHandlerMethod>>();
  const all = (path: string, _options: object, handler: RouteHandlerMethod): void => {
    const end = path.lastIndexOf("/") + 1;
    const servicePath = path.slice(0, end);
    const methods = services.get(servicePath) ?? new Map<string, RouteHandlerMethod>();
    services.set(servicePath, methods.set(path.slice(end), handler));
  };
  // The plugin adds its parsers of content to the application, and its routes here.
  const collector: FastifyInstance = Object.create(app, { all: { value: all } });
  await new Promise<void>((resolve, reject) => {
    fastifyConnectPlugin(collector, options, (error) => (error ? reject(error) : resolve()));
  });
  for (const [servicePath, methods] of services)
    app.all(`${servicePath}${oneOf(methods.keys())}`, { config: { servicePath } }, function (request, reply) {
      return methods.get(nameIn(request))?.call(this, request, reply);
    });
}

/** The path of the called method; undefined for a route that is not of a service. */
export function methodPath(request: Pick<FastifyRequest, "params" | "routeOptions">): string | undefined {
  const { servicePath } = request.routeOptions.config;
  return servicePath === undefined ? undefined : `${servicePath}${nameIn(request)}`;
}
