import { createFetchClientDocument } from "../adapters/egress/fetch-client-document.ts";
import { createPdfOf } from "../adapters/pdf/pdf-of.ts";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/sign-in.ts";
import type { SignIns } from "../core/connectors/sign-in.ts";
import { exportLinks } from "../core/exports/links.ts";
import type { Blobs } from "../core/files/blob.ts";
import { clientDocuments } from "../core/oauth/client-documents.ts";
import { refreshTokens } from "../core/oauth/family.ts";
import { codeEntries } from "../core/oauth/user-code.ts";
import { linkRequestCounter } from "../core/sign-in/link-request.ts";
import { attemptCounter } from "../core/sign-in/prove.ts";
import { type SiteVisits, siteVisits } from "../core/websites/visit.ts";
import { Access_Credential } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import type { IsCustomDomain } from "../http/admin.ts";
import { docsRoutes } from "../http/docs/routes.ts";
import { buildSite, openSite } from "../http/docs/site.ts";
import { documentRoutes } from "../http/documents.ts";
import { type FileRoutesParts, fileRoutes } from "../http/files/routes.ts";
import { hostNamesOf } from "../http/host-names.ts";
import { securityContactRoute } from "../http/security-contact.ts";
import type { ServerParts, SiteServer } from "../http/server.ts";
import type { RefusalParts } from "../http/v2/refusal.ts";
import { type OAuthRoutesParts, oauthRoutes } from "../oauth/routes.ts";
import { network } from "../pipeline/limit.ts";
import { type ScimRoutesParts, scimRoutes } from "../protocols/scim/routes.ts";
import type { SiteUrl } from "../rpc/website.ts";
import { type WebApplicationOptions, webApplication } from "../sign-in-pages/application.ts";
import { connectorPages } from "../sign-in-pages/connectors.ts";
import { consentPages } from "../sign-in-pages/consent/pages.ts";
import { consolePages } from "../sign-in-pages/console.ts";
import { errorPages } from "../sign-in-pages/error-pages.ts";
import { relyingParty } from "../sign-in-pages/factors/webauthn.ts";
import { notFoundPage, sendPage } from "../sign-in-pages/page.ts";
import type { ConsoleParts } from "../sign-in-pages/parts.ts";
import { oidcProvider } from "../sign-in-pages/provider.ts";
import { siteEntrance } from "../sign-in-pages/site-entrance.ts";
import { visits } from "../sign-in-pages/visits.ts";
import { deleteFirstKey } from "../start/first-key.ts";
import { createSiteOfDomain } from "../websites/custom-domains.ts";
import { createSiteServer, siteHostReader } from "../websites/server.ts";
import { connectorCallback } from "./connectors.ts";
import type { FileParts } from "./files.ts";
import type { ProcessContext } from "./process-context.ts";

/** The URLs of sites: https, except for this machine's own names (docs/guides/websites.md). */
export function createSiteUrl({ sitesDomain, port }: Pick<Config, "sitesDomain" | "port">): SiteUrl {
  const isLocal = /(^|\.)localhost$/.test(sitesDomain);
  const end = isLocal && port !== 80 ? `:${port}` : "";
  return (label) => `${isLocal ? "http" : "https"}://${label}.${sitesDomain}${end}`;
}

/** The websites of this process, and their visits. */
interface Sites {
  readonly server: SiteServer;
  readonly visits: SiteVisits;
  readonly siteUrl: SiteUrl;
}

export function createSites({ config, store, clock, random, log }: ProcessContext, blobs: Blobs): Sites {
  const { sitesDomain, baseUrl, consentUrl, appUrl } = config;
  const siteUrl = createSiteUrl(config);
  const visits = siteVisits({ store, clock, random });
  const hosts = siteHostReader(sitesDomain, [baseUrl, consentUrl, appUrl]);
  const siteOfDomain = createSiteOfDomain(store.domains, clock);
  return { siteUrl, visits, server: createSiteServer({ hosts, siteOfDomain, store, blobs, visits, siteUrl, consentUrl, log }) };
}

/** For names as proxies write them: any case, with or without a dot at the end. */
export const customDomainCheck =
  ({ domains }: Pick<ProcessContext["store"], "domains">): IsCustomDomain =>
  async (name) =>
    (await domains.siteOf(name.toLowerCase().replace(/\.$/, ""))) !== null;

/** What the web routes share with the operations. */
export interface WebCalls
  extends Pick<OAuthRoutesParts, "limits" | "keys" | "readToken" | "readRequest" | "report">,
    Pick<ConsoleParts, "askOwner" | "sendRecoveryMail" | "mailLink">,
    RefusalParts {
  readonly scim: Pick<ScimRoutesParts, "operations" | "admit" | "writeAudit" | "teamUsers" | "groups" | "bodyLimit">;
}

function tokenAdmission({ operations, admit }: WebCalls["scim"]): OAuthRoutesParts["admitToken"] {
  const me = operations.byName("user.me");
  if (!me?.access) throw new Error("user.me is not an operation");
  const byToken = { ...me, access: { ...me.access, credentials: new Set([Access_Credential.OAUTH]) } };
  return (head) => admit(byToken, head);
}

/** The page for unknown addresses, and the routes other than operations: file contents, documents of the API, OAuth endpoints, SCIM, and pages. */
export function webRoutes(
  context: ProcessContext,
  files: FileParts,
  { sites, connectors }: { readonly sites: Sites; readonly connectors: SignIns },
  calls: WebCalls,
): Required<Pick<ServerParts, "routes" | "notFoundPage">> {
  const { config, store, cipher, clock, ids } = context;
  const { baseUrl: issuer, consentUrl, cliSignIn, registration } = config;
  const oauth: OAuthRoutesParts = {
    ...calls,
    admitToken: tokenAdmission(calls.scim),
    store,
    clock,
    ids,
    refreshTokens: refreshTokens(cipher, ids, config.refreshReplaySeconds * 1000),
    issuer,
    consentUrl,
    cliSignIn,
    registration,
    random: context.random,
  };
  if (config.refreshReplaySeconds > 0)
    context.log("warn", "OAUTH_REFRESH_REPLAY_SECONDS: repeated refreshes return the same tokens, which deviates from the specification");
  const pages = consoleParts(context, calls);
  const isOwn = ownHostCheck(config);
  const documents = clientDocuments({
    clock,
    fetch: createFetchClientDocument(clock, context.resolve, config.clientAllow),
    count: (address) => calls.limits.clientDocument(address),
  });
  const bytes: FileRoutesParts = {
    ...calls,
    ...files,
    store,
    cipher,
    clock,
    exportLinks: exportLinks(cipher, config.baseUrl),
    pdfOf: createPdfOf({ chromium: config.pdf, clock, log: context.log }),
    corsOrigins: config.corsOrigins,
  };
  const routes: ServerParts["routes"] = [
    (scope) => fileRoutes(scope, bytes),
    (scope) => documentRoutes(scope, { baseUrl: issuer, consentUrl }),
    (scope) =>
      docsRoutes(scope, {
        ...{ baseUrl: issuer, clock, openSite },
        buildSite: config.buildsDocs ? (signal) => buildSite(context.log, signal) : null,
      }),
    (scope) => securityContactRoute(scope, { ...config, clock }),
    (scope) => oauthRoutes(scope, oauth),
    (scope) => scimRoutes(scope, { ...calls, ...calls.scim, store, baseUrl: issuer }),
    (scope) =>
      consolePages(scope, pages, [
        consentPages({ issuer, cliSignIn, registration, documents }),
        connectorPages(connectors, connectorCallback),
        siteEntrance(sites),
        errorPages,
        ...(config.console ? [webApplication({ fileOrigins: fileOrigins(config), isOwn })] : []),
      ]),
  ];
  return { routes, notFoundPage: ({ raw }, reply) => (isOwn(raw) ? sendPage(reply, pages.visits, notFoundPage) : null) };
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

function consoleParts(
  { config, store, cipher, clock, ids, random, log }: ProcessContext,
  { readRequest, report, askOwner, sendRecoveryMail, mailLink }: WebCalls,
): ConsoleParts {
  const { consentUrl, singleSignOn, dataDir } = config;
  return {
    ...{ store, clock, ids, random, cipher, log, readRequest, report, askOwner, sendRecoveryMail, mailLink },
    visits: visits({ store, clock, random, consentUrl, console: config.console }),
    countAttempt: attemptCounter(store.counters, clock, network),
    countLink: linkRequestCounter(store.counters, clock, network),
    codeEntries: codeEntries(store.counters, clock, network),
    async welcome() {
      await deleteFirstKey(dataDir).catch((error: unknown) => log("warn", "the file of the first key was not deleted", { error }));
      return config.console ? "/welcome" : "/account/password";
    },
    relyingParty: relyingParty(consentUrl),
    provider: singleSignOn && oidcProvider({ ...singleSignOn, redirectUri: `${consentUrl}/sign-in/callback` }),
  };
}
