import { docsRoutes } from "../http/docs/routes.ts";
import { buildSite, openSite } from "../http/docs/site.ts";
import { documentRoutes } from "../http/documents.ts";
import { securityContactRoute } from "../http/security-contact.ts";
import type { CreateModule } from "./module.ts";

/** The documents of the API, the built documentation, and the security contact. */
export const createDocuments: CreateModule = ({ config, clock, log }) => {
  const { baseUrl, consentUrl, buildsDocs } = config;
  const build = buildsDocs ? (signal: AbortSignal) => buildSite(log, signal) : null;
  return {
    routes: [
      (scope) => documentRoutes(scope, { baseUrl, consentUrl }),
      (scope) => docsRoutes(scope, { baseUrl, clock, openSite, buildSite: build }),
      (scope) => securityContactRoute(scope, { ...config, clock }),
    ],
  };
};
