import type { FastifyInstance } from "fastify";
import { accountRoutes } from "./account.ts";
import { formBodies } from "./form.ts";
import { linkRoutes } from "./link.ts";
import { type ConsoleParts, fromOf } from "./parts.ts";
import { passwordRoutes } from "./password.ts";
import { proveRoutes } from "./prove.ts";
import { refuse } from "./refusal.ts";
import { signInRoutes } from "./sign-in.ts";
import { singleSignOnRoutes } from "./single-sign-on.ts";
import { styleRoute } from "./style.ts";

/** More pages of the same kind: they are given the scope in which forms are read and failures become pages. */
export type MorePages = (app: FastifyInstance, parts: ConsoleParts) => void;

/** The web pages at CONSENT_URL, in a scope of their own. */
export function consolePages(app: FastifyInstance, parts: ConsoleParts, more: readonly MorePages[] = []): void {
  formBodies(app);
  app.addHook("onRequest", async (request, reply) => {
    reply.header("X-Request-Id", fromOf(parts, request).requestId);
  });
  app.setErrorHandler((thrown, request, reply) => refuse(parts, request, reply, thrown));
  styleRoute(app);
  signInRoutes(app, parts);
  linkRoutes(app, parts);
  accountRoutes(app, parts);
  passwordRoutes(app, parts);
  proveRoutes(app, parts);
  if (parts.provider) singleSignOnRoutes(app, parts, parts.provider);
  for (const pages of more) pages(app, parts);
}
