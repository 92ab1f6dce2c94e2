import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import type { OAuthSecret } from "../core/oauth/app.ts";
import type { AppSecrets } from "../core/oauth/app-secrets.ts";
import type { Apps, AppView } from "../core/oauth/apps.ts";
import type { AuthorizedApp, AuthorizedApps } from "../core/oauth/authorized-apps.ts";
import type { OAuth2AppSchema, OAuth2AppSecretSchema, OAuth2GrantSchema } from "../gen/proto/oauth/v2/oauth2_app_pb.ts";
import type { OAuth2AppService } from "../gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { editOf, settingsOf } from "./oauth2-app-edit.ts";
import { seconds } from "./time.ts";

/** What the operations on apps are made of. */
export interface OAuth2AppParts {
  readonly apps: Apps;
  readonly secrets: AppSecrets;
  readonly authorized: AuthorizedApps;
}

/** Apps of a team, their secrets, and what its members let them do (contract/oauth.md 1, 13). */
export function oauth2AppHandlers({ apps, secrets, authorized }: OAuth2AppParts): Handlers<typeof OAuth2AppService> {
  return {
    createOAuth2App: {
      async prepare(request, caller) {
        const create = await apps.create(caller, settingsOf(request));
        return async (tx) => {
          const { app, secret } = await create(tx);
          return { app: appMessage(app), clientSecret: secret };
        };
      },
    },
    async getOAuth2App(tx, caller, { clientId }) {
      return { app: appMessage(await apps.get(tx, caller, clientId)) };
    },
    async listOAuth2Apps(tx, caller) {
      return { data: (await apps.list(tx, caller)).map(appMessage) };
    },
    updateOAuth2App: {
      // A mask that names what is not there is refused whoever's app it is.
      async prepare(request, caller) {
        const update = await apps.update(caller, request.clientId, editOf(request));
        return async (tx) => ({ app: appMessage(await update(tx)) });
      },
    },
    async deleteOAuth2App(tx, caller, { clientId }) {
      await apps.remove(tx, caller, clientId);
      return {};
    },
    async createOAuth2AppSecret(tx, caller, { clientId }) {
      const { secret, text } = await secrets.create(tx, caller, clientId);
      return { secret: secretMessage(secret), clientSecret: text };
    },
    async listOAuth2AppSecrets(tx, caller, { clientId }) {
      return { data: (await secrets.list(tx, caller, clientId)).map(secretMessage) };
    },
    async revokeOAuth2AppSecret(tx, caller, { clientId, secretId }) {
      await secrets.revoke(tx, caller, clientId, secretId);
      return {};
    },
    async listOAuth2Grants(tx, caller) {
      return { data: (await authorized.list(tx, caller)).map(grantMessage) };
    },
    async revokeOAuth2Grant(tx, caller, { clientId }) {
      await authorized.revoke(tx, caller, clientId);
      return {};
    },
  };
}

/** The app as callers see it; its generation stays inside. */
const appMessage = ({ scopes, connectorUids, webhookUrl, webhookId, ...app }: AppView): MessageInitShape<typeof OAuth2AppSchema> => ({
  clientId: app.clientId,
  appType: "team",
  name: app.name,
  description: app.description,
  redirectUris: [...app.redirectUris],
  homepageUrl: app.homepageUrl,
  scopeConfig: { scopes: [...scopes], connectorUids: [...connectorUids] },
  webhookUrl: webhookUrl ?? "",
  webhookId: webhookId ?? "",
  skillIds: [...app.skillIds],
  confidentialOnly: app.confidentialOnly,
  loopbackAnyPort: app.loopbackAnyPort,
  creatorId: app.creatorId,
  createdAt: seconds(app.createdAt),
  updatedAt: seconds(app.updatedAt),
});

const secretMessage = ({ id, last4, createdAt }: OAuthSecret): MessageInitShape<typeof OAuth2AppSecretSchema> => ({
  id,
  last4,
  createdAt: seconds(createdAt),
});

const grantMessage = ({ app, grant }: AuthorizedApp): MessageInitShape<typeof OAuth2GrantSchema> => ({
  id: grant.id,
  clientId: app.clientId,
  appName: app.name,
  homepageUrl: app.homepageUrl,
  scopes: [...grant.scopes],
  connectorUids: [...grant.connectorUids],
  createdAt: seconds(grant.createdAt),
  updatedAt: seconds(grant.updatedAt),
});
