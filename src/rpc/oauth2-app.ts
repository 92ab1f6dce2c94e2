import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { invalidArgument } from "../core/failure.ts";
import type { AppSecrets, OAuthSecret } from "../core/oauth/app.ts";
import type { ScopesInput, SettingsInput } from "../core/oauth/app-rules.ts";
import { allowsUnverified, setClientPolicy } from "../core/oauth/client-policy.ts";
import { updateGrantConnectors } from "../core/oauth/consent.ts";
import type { AppUser, AuthorizedApp, AuthorizedApps, GrantUse } from "../core/oauth/grant.ts";
import type { Apps, AppView } from "../core/use-cases/manage-oauth-apps.ts";
import type {
  OAuth2AppSchema,
  OAuth2AppSecretSchema,
  OAuth2AppUserSchema,
  OAuth2GrantSchema,
  ScopeConfig,
} from "../gen/proto/oauth/v2/oauth2_app_pb.ts";
import {
  type CreateOAuth2AppRequest,
  OAuth2AppService,
  type UpdateOAuth2AppRequest,
} from "../gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { wireCredits } from "./usage.ts";
import { seconds } from "./wire-values.ts";

const settingsOf = ({ scopeConfig, ...request }: CreateOAuth2AppRequest): SettingsInput => ({
  name: request.name,
  description: request.description,
  redirectUris: request.redirectUris,
  allowedOrigins: request.allowedOrigins,
  homepageUrl: request.homepageUrl,
  webhookUrl: request.webhookUrl,
  skillIds: request.skillIds,
  confidentialOnly: request.confidentialOnly,
  loopbackAnyPort: request.loopbackAnyPort,
  deviceAuthorization: request.deviceAuthorization,
  clientCredentials: request.clientCredentials,
  scopeConfig: scopesOf(scopeConfig),
});

/** How an update reads a field: whether a request without a mask sets it, and the changed settings. */
interface Setting {
  readonly isSet: (request: UpdateOAuth2AppRequest) => boolean;
  readonly value: (request: UpdateOAuth2AppRequest) => Partial<SettingsInput>;
}

/**
 * Settings by field name. A field that a mask names and the request omits is set to its zero value, which may
 * be invalid.
 */
const settings: Readonly<Record<string, Setting>> = {
  scope_config: {
    isSet: ({ scopeConfig }) => scopeConfig !== undefined,
    value: ({ scopeConfig }) => ({ scopeConfig: scopesOf(scopeConfig) }),
  },
  name: { isSet: ({ name }) => name !== undefined, value: ({ name = "" }) => ({ name }) },
  description: {
    isSet: ({ description }) => description !== undefined,
    value: ({ description = "" }) => ({ description }),
  },
  redirect_uris: {
    isSet: ({ redirectUris }) => redirectUris.length > 0,
    value: ({ redirectUris }) => ({ redirectUris }),
  },
  allowed_origins: {
    isSet: ({ allowedOrigins }) => allowedOrigins.length > 0,
    value: ({ allowedOrigins }) => ({ allowedOrigins }),
  },
  homepage_url: {
    isSet: ({ homepageUrl }) => homepageUrl !== undefined,
    value: ({ homepageUrl = "" }) => ({ homepageUrl }),
  },
  webhook_url: {
    isSet: ({ webhookUrl }) => webhookUrl !== undefined,
    value: ({ webhookUrl = "" }) => ({ webhookUrl }),
  },
  skill_ids: { isSet: ({ skillIds }) => skillIds.length > 0, value: ({ skillIds }) => ({ skillIds }) },
  confidential_only: {
    isSet: ({ confidentialOnly }) => confidentialOnly !== undefined,
    value: ({ confidentialOnly = false }) => ({ confidentialOnly }),
  },
  loopback_any_port: {
    isSet: ({ loopbackAnyPort }) => loopbackAnyPort !== undefined,
    value: ({ loopbackAnyPort = false }) => ({ loopbackAnyPort }),
  },
  device_authorization: {
    isSet: ({ deviceAuthorization }) => deviceAuthorization !== undefined,
    value: ({ deviceAuthorization = false }) => ({ deviceAuthorization }),
  },
  client_credentials: {
    isSet: ({ clientCredentials }) => clientCredentials !== undefined,
    value: ({ clientCredentials = false }) => ({ clientCredentials }),
  },
};

/**
 * The change that an update makes to an app's settings. Without a mask it sets present
 * members and lists that are not empty; with a mask exactly the fields that it names.
 *
 * @throws Failure `invalid_argument` for a mask with any other name.
 */
function editOf(request: UpdateOAuth2AppRequest): (current: SettingsInput) => SettingsInput {
  const set = request.updateMask
    ? settingsIn(request.updateMask.paths)
    : Object.values(settings).filter(({ isSet }) => isSet(request));
  return (current) => Object.assign({}, current, ...set.map(({ value }) => value(request)));
}

function settingsIn(paths: readonly string[]): readonly Setting[] {
  return paths.map((path, index) => {
    const setting = Object.hasOwn(settings, path) ? settings[path] : undefined;
    if (!setting) throw invalidArgument(`update_mask.paths[${index}]`, "names no field that can be set");
    return setting;
  });
}

const scopesOf = (config: ScopeConfig | undefined): ScopesInput => ({
  scopes: config?.scopes ?? [],
  connectorUids: config?.connectorUids ?? [],
});

export interface OAuth2AppParts {
  readonly apps: Apps;
  readonly secrets: AppSecrets;
  readonly authorized: AuthorizedApps;
  readonly clock: Pick<Clock, "now">;
}

/** Apps of a team, their secrets, and the grants of its members (spec/oauth.md 1, 13). */
export function oauth2AppHandlers({ apps, secrets, authorized, clock }: OAuth2AppParts) {
  return implement(OAuth2AppService, {
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
      // A mask with an unknown field is refused before the app's owner is checked.
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
      return { data: (await authorized.list(tx, caller)).map(usedGrant) };
    },
    async listOAuth2AppUsers(tx, caller, { clientId, limit = 20, cursor }) {
      const { items, total, next } = await authorized.users(tx, caller, clientId, { limit, cursor });
      return {
        data: items.map(userMessage),
        total,
        hasMore: next !== undefined,
        ...defined({ nextCursor: next }),
      };
    },
    async updateOAuth2GrantConnectors(tx, caller, { clientId, connectorUids: chosen }) {
      const connectorUids = await updateGrantConnectors(tx, caller, {
        clientId,
        connectorUids: chosen,
        now: clock.now(),
      });
      return { connectorUids: [...connectorUids] };
    },
    async revokeOAuth2Grant(tx, caller, { clientId }) {
      await authorized.revoke(tx, caller, clientId);
      return {};
    },
    async getOAuth2ClientPolicy(tx, caller) {
      return { allowUnverifiedClients: await allowsUnverified(tx, caller) };
    },
    async setOAuth2ClientPolicy(tx, caller, { allowUnverifiedClients = false }) {
      await setClientPolicy(tx, caller, allowUnverifiedClients);
      return { allowUnverifiedClients };
    },
  });
}

/** The wire form of an app, without its generation. */
const appMessage = ({
  scopes,
  connectorUids,
  webhookUrl,
  webhookId,
  ...app
}: AppView): MessageInitShape<typeof OAuth2AppSchema> => ({
  clientId: app.clientId,
  appType: "team",
  name: app.name,
  description: app.description,
  redirectUris: [...app.redirectUris],
  allowedOrigins: [...app.allowedOrigins],
  homepageUrl: app.homepageUrl,
  scopeConfig: { scopes: [...scopes], connectorUids: [...connectorUids] },
  webhookUrl: webhookUrl ?? "",
  webhookId: webhookId ?? "",
  skillIds: [...app.skillIds],
  confidentialOnly: app.confidentialOnly,
  loopbackAnyPort: app.loopbackAnyPort,
  deviceAuthorization: app.deviceAuthorization,
  clientCredentials: app.serviceAccountId !== null,
  clientCredentialsUserId: app.serviceAccountId ?? "",
  creatorId: app.creatorId,
  createdAt: seconds(app.createdAt),
  updatedAt: seconds(app.updatedAt),
});

const secretMessage = ({
  id,
  last4,
  createdAt,
}: OAuthSecret): MessageInitShape<typeof OAuth2AppSecretSchema> => ({
  id,
  last4,
  createdAt: seconds(createdAt),
});

const lastUse = ({ usedAt }: Pick<GrantUse, "usedAt">) =>
  usedAt === null ? {} : { lastUsedAt: seconds(usedAt) };

const userMessage = ({
  accountId,
  name: userName,
  createdAt,
  ...user
}: AppUser): MessageInitShape<typeof OAuth2AppUserSchema> => ({
  userId: accountId,
  userName,
  createdAt: seconds(createdAt),
  ...lastUse(user),
});

const usedGrant = ({
  use,
  ...authorized
}: AuthorizedApp & { use: GrantUse }): MessageInitShape<typeof OAuth2GrantSchema> => ({
  ...toGrant(authorized),
  ...lastUse(use),
  credits: wireCredits(use.credits),
});

export const toGrant = ({ app, grant }: AuthorizedApp): MessageInitShape<typeof OAuth2GrantSchema> => ({
  id: grant.id,
  clientId: app.clientId,
  appName: app.name,
  homepageUrl: app.homepageUrl,
  scopes: grant.scopes.filter((name) => app.scopes.includes(name)),
  connectorUids: grant.connectorUids.filter((uid) => app.connectorUids.includes(uid)),
  createdAt: seconds(grant.createdAt),
  updatedAt: seconds(grant.updatedAt),
  verified: app.verified,
  expanded: grant.generation !== app.generation,
});
