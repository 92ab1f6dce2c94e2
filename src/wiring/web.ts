import type { FastifyInstance } from "fastify";
import { network } from "../call/limit.ts";
import { connectorPages } from "../console/connectors.ts";
import { consentPages } from "../console/consent/pages.ts";
import { consolePages } from "../console/console.ts";
import type { ConsoleParts } from "../console/parts.ts";
import { oidcProvider } from "../console/provider.ts";
import { siteEntrance } from "../console/site-entrance.ts";
import { visits } from "../console/visits.ts";
import type { SignIns } from "../core/connectors/sign-in.ts";
import { exportLinks } from "../core/exports/links.ts";
import { refreshTokens } from "../core/oauth/refresh-token.ts";
import { attemptCounter } from "../core/sign-in/attempts.ts";
import { type FileRoutesParts, fileRoutes } from "../http/files/routes.ts";
import { type OAuthRoutesParts, oauthRoutes } from "../oauth/routes.ts";
import { type ScimRoutesParts, scimRoutes } from "../scim/routes.ts";
import { connectorCallback } from "./connectors.ts";
import type { FileParts } from "./files.ts";
import type { Ground } from "./ground.ts";
import type { Sites } from "./sites.ts";

/** What it shares with the operations' side of the process. */
export interface WebCalls extends Pick<OAuthRoutesParts, "limits" | "keys" | "readToken" | "readRequest" | "report"> {
  readonly scim: Pick<ScimRoutesParts, "operations" | "admit" | "writeAudit" | "teamUsers" | "bodyLimit">;
}

/** What is no operation: the bytes of files, the endpoints of OAuth clients, SCIM, and the pages. */
export function webRoutes(
  ground: Ground,
  files: FileParts,
  { sites, connectors }: { readonly sites: Sites; readonly connectors: SignIns },
  calls: WebCalls,
): readonly ((app: FastifyInstance) => void)[] {
  const { config, store, cipher, clock, ids } = ground;
  const { baseUrl: issuer, consentUrl } = config;
  const oauth: OAuthRoutesParts = {
    ...calls,
    store,
    clock,
    ids,
    refreshTokens: refreshTokens(cipher, ids, config.refreshReplaySeconds * 1000),
    issuer,
    consentUrl,
  };
  if (config.refreshReplaySeconds > 0)
    ground.log("warn", "OAUTH_REFRESH_REPLAY_SECONDS: repeated refreshes are answered, which departs from the contract");
  const pages = consoleParts(ground, calls);
  const bytes: FileRoutesParts = {
    ...calls,
    ...files,
    store,
    cipher,
    clock,
    exportLinks: exportLinks(cipher, config.baseUrl),
    corsOrigins: config.corsOrigins,
  };
  return [
    (scope) => fileRoutes(scope, bytes),
    (scope) => oauthRoutes(scope, oauth),
    (scope) => scimRoutes(scope, { ...calls, ...calls.scim, store, baseUrl: issuer }),
    (scope) => consolePages(scope, pages, [consentPages(issuer), connectorPages(connectors, connectorCallback), siteEntrance(sites)]),
  ];
}

function consoleParts({ config, store, cipher, clock, ids, random, log }: Ground, { readRequest, report }: WebCalls): ConsoleParts {
  const { consentUrl, singleSignOn } = config;
  return {
    ...{ store, clock, ids, random, cipher, log, readRequest, report },
    visits: visits({ store, clock, random, consentUrl }),
    countAttempt: attemptCounter(store.counters, clock, network),
    provider: singleSignOn && oidcProvider({ ...singleSignOn, redirectUri: `${consentUrl}/sign-in/callback` }),
  };
}
