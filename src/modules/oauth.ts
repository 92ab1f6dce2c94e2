import { appSecrets } from "../core/oauth/app.ts";
import { refreshTokens } from "../core/oauth/family.ts";
import { authorizedApps } from "../core/oauth/grant.ts";
import { apps } from "../core/use-cases/manage-oauth-apps.ts";
import { appWebhooks } from "../core/webhooks/app-webhooks.ts";
import { Access_Credential } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import { type OAuthRoutesParts, oauthRoutes } from "../oauth/routes.ts";
import { oauth2AppHandlers } from "../rpc/oauth2-app.ts";
import type { Calls } from "./calls.ts";
import type { CreateModule } from "./module.ts";

/** OAuth apps, and the endpoints for their clients. */
export const createOAuth: CreateModule = (context) => {
  const { config, store, cipher, clock, ids, random, log, hooks, calls } = context;
  const { baseUrl, consentUrl, cliSignIn, registration } = config;
  if (config.refreshReplaySeconds > 0)
    log(
      "warn",
      "OAUTH_REFRESH_REPLAY_SECONDS: repeated refreshes return the same tokens, which deviates from the specification",
    );
  const routes: OAuthRoutesParts = {
    ...calls,
    store,
    clock,
    ids,
    random,
    issuer: baseUrl,
    consentUrl,
    cliSignIn,
    registration,
    admitToken: tokenAdmission(calls),
    refreshTokens: refreshTokens(cipher, ids, config.refreshReplaySeconds * 1000),
  };
  const parts = {
    apps: apps({ ...hooks, webhooks: appWebhooks(hooks) }),
    secrets: appSecrets(context),
    authorized: authorizedApps(clock),
    clock,
  };
  return { handlers: [oauth2AppHandlers(parts)], routes: [(scope) => oauthRoutes(scope, routes)] };
};

function tokenAdmission({ operations, admit }: Calls): OAuthRoutesParts["admitToken"] {
  const me = operations.byName("user.me");
  if (!me?.access) throw new Error("user.me is not an operation");
  const byToken = { ...me, access: { ...me.access, credentials: new Set([Access_Credential.OAUTH]) } };
  return (head) => admit(byToken, head);
}
