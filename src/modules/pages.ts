import { createFetchClientDocument } from "../adapters/egress/fetch-client-document.ts";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/sign-in.ts";
import { clientDocuments } from "../core/oauth/client-documents.ts";
import { hostNamesOf } from "../http/host-names.ts";
import type { ServerParts } from "../http/server.ts";
import { type WebApplicationOptions, webApplication } from "../sign-in-pages/application.ts";
import { connectorPages } from "../sign-in-pages/connectors.ts";
import { consentPages } from "../sign-in-pages/consent/pages.ts";
import { consolePages } from "../sign-in-pages/console.ts";
import { errorPages } from "../sign-in-pages/error-pages.ts";
import { notFoundPage, sendPage } from "../sign-in-pages/page.ts";
import { siteEntrance } from "../sign-in-pages/site-entrance.ts";
import { connectorCallback } from "./connector-parts.ts";
import { consoleParts } from "./console-parts.ts";
import type { Module, ModuleContext } from "./module.ts";

/** The pages of the server, with the one for unknown addresses, and the web application. */
export function createPages(context: ModuleContext): Module & Required<Pick<ServerParts, "notFoundPage">> {
  const { config, clock, resolve, sites, connectors, calls } = context;
  const { baseUrl, cliSignIn, registration } = config;
  const pages = consoleParts(context);
  const isOwn = ownHostCheck(config);
  const documents = clientDocuments({
    clock,
    fetch: createFetchClientDocument(clock, resolve, config.clientAllow),
    count: (address) => calls.limits.clientDocument(address),
  });
  const routesOf = [
    consentPages({ issuer: baseUrl, cliSignIn, registration, documents }),
    connectorPages(connectors.signIns, connectorCallback),
    siteEntrance(sites),
    errorPages,
    ...(config.console ? [webApplication({ fileOrigins: fileOrigins(config), isOwn })] : []),
  ];
  return {
    routes: [(scope) => consolePages(scope, pages, routesOf)],
    notFoundPage: ({ raw }, reply) => (isOwn(raw) ? sendPage(reply, pages.visits, notFoundPage) : null),
  };
}

/** Whether the host names of a request are those of URLs of the platform, or of this machine. */
function ownHostCheck({ baseUrl, consentUrl, appUrl }: Config): WebApplicationOptions["isOwn"] {
  const own = new Set([baseUrl, consentUrl, appUrl].map((url) => new URL(url).hostname));
  return (request) => hostNamesOf(request).every((name) => own.has(name) || isLoopback(name));
}

function fileOrigins({ bucket }: Pick<Config, "bucket">): readonly string[] {
  if (bucket === null || !bucket.redirect) return [];
  if (bucket.endpoint === null) return ["https://*.amazonaws.com"];
  const { protocol, host, origin } = new URL(bucket.endpoint);
  return bucket.pathStyle ? [origin] : [`${protocol}//${bucket.name}.${host}`];
}
