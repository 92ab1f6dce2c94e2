import type { FastifyServerFactoryHandler } from "fastify";

const yearSeconds = 31_536_000;

/**
 * Sets a header on every answer of a server before a handler sees the request: browsers guess no type, on platform and websites.
 */
export const withNosniff =
  (handler: FastifyServerFactoryHandler): FastifyServerFactoryHandler =>
  (request, response) => {
    response.setHeader("X-Content-Type-Options", "nosniff");
    handler(request, response);
  };

/** Tells browsers to use https only for the host of the platform, for a year (RFC 6797). Websites are on other hosts. */
export const withHttpsOnly = (handler: FastifyServerFactoryHandler, isOn: boolean): FastifyServerFactoryHandler =>
  isOn
    ? (request, response) => {
        response.setHeader("Strict-Transport-Security", `max-age=${yearSeconds}`);
        handler(request, response);
      }
    : handler;
