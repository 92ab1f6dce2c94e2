import { invalid } from "../core/failure.ts";
import type { WantedScopes, WantedSettings } from "../core/oauth/app-rules.ts";
import type { ScopeConfig } from "../gen/proto/oauth/v2/oauth2_app_pb.ts";
import type { CreateOAuth2AppRequest, UpdateOAuth2AppRequest } from "../gen/proto/oauth/v2/oauth2_app_service_pb.ts";

/** What an app is asked to be made with. */
export const settingsOf = ({ scopeConfig, ...request }: CreateOAuth2AppRequest): WantedSettings => ({
  name: request.name,
  description: request.description,
  redirectUris: request.redirectUris,
  homepageUrl: request.homepageUrl,
  webhookUrl: request.webhookUrl,
  skillIds: request.skillIds,
  confidentialOnly: request.confidentialOnly,
  loopbackAnyPort: request.loopbackAnyPort,
  scopeConfig: scopesOf(scopeConfig),
});

/** A setting by its field's name: whether a request without a mask sets it, and what the settings are with the field's value. */
interface Setting {
  readonly isSet: (request: UpdateOAuth2AppRequest) => boolean;
  readonly value: (request: UpdateOAuth2AppRequest) => Partial<WantedSettings>;
}

/** A field that is named and absent is set to its zero, which not every one may have. */
const settings: Readonly<Record<string, Setting>> = {
  scope_config: {
    isSet: ({ scopeConfig }) => scopeConfig !== undefined,
    value: ({ scopeConfig }) => ({ scopeConfig: scopesOf(scopeConfig) }),
  },
  name: { isSet: ({ name }) => name !== undefined, value: ({ name = "" }) => ({ name }) },
  description: { isSet: ({ description }) => description !== undefined, value: ({ description = "" }) => ({ description }) },
  redirect_uris: { isSet: ({ redirectUris }) => redirectUris.length > 0, value: ({ redirectUris }) => ({ redirectUris }) },
  homepage_url: { isSet: ({ homepageUrl }) => homepageUrl !== undefined, value: ({ homepageUrl = "" }) => ({ homepageUrl }) },
  webhook_url: { isSet: ({ webhookUrl }) => webhookUrl !== undefined, value: ({ webhookUrl = "" }) => ({ webhookUrl }) },
  skill_ids: { isSet: ({ skillIds }) => skillIds.length > 0, value: ({ skillIds }) => ({ skillIds }) },
  confidential_only: {
    isSet: ({ confidentialOnly }) => confidentialOnly !== undefined,
    value: ({ confidentialOnly = false }) => ({ confidentialOnly }),
  },
  loopback_any_port: {
    isSet: ({ loopbackAnyPort }) => loopbackAnyPort !== undefined,
    value: ({ loopbackAnyPort = false }) => ({ loopbackAnyPort }),
  },
};

/**
 * What an update makes of an app's settings: without a mask members that are present
 * and lists that are not empty are set, with one exactly those that it names.
 *
 * @throws Failure `invalid` for a mask that names anything else.
 */
export function editOf(request: UpdateOAuth2AppRequest): (present: WantedSettings) => WantedSettings {
  const set = request.updateMask ? named(request.updateMask.paths) : Object.values(settings).filter(({ isSet }) => isSet(request));
  return (present) => Object.assign({}, present, ...set.map(({ value }) => value(request)));
}

function named(paths: readonly string[]): readonly Setting[] {
  return paths.map((path, index) => {
    const setting = Object.hasOwn(settings, path) ? settings[path] : undefined;
    if (!setting) throw invalid(`update_mask.paths[${index}]`, "names no field that can be set");
    return setting;
  });
}

const scopesOf = (config: ScopeConfig | undefined): WantedScopes => ({
  scopes: config?.scopes ?? [],
  connectorUids: config?.connectorUids ?? [],
});
