import { isScope } from "../accounts/caller.ts";
import { type AddressRules, checkWebhookUrl, findHttpsUrlFault } from "../addresses/address.ts";
import { connectorById, myBrowserId } from "../connectors/catalogue.ts";
import { invalidArgument } from "../failure.ts";
import { nameForm, type OAuthApp, type ScopeConfig } from "./app.ts";
import { findRedirectUriFault } from "./authorization.ts";
import { isHttpsOrigin, originsMax } from "./https-origin.ts";

/** The most redirect URIs of an app (spec/oauth.md 13). */
const redirectUrisMax = 20;

/** The scopes and connectors of an app as a request states them, not validated. */
export interface ScopesInput {
  readonly scopes: readonly string[];
  readonly connectorUids: readonly string[];
}

export type AppSettings = Pick<
  OAuthApp,
  | "name"
  | "description"
  | "redirectUris"
  | "allowedOrigins"
  | "homepageUrl"
  | "webhookUrl"
  | "skillIds"
  | "confidentialOnly"
  | "loopbackAnyPort"
  | "deviceAuthorization"
  | "scopes"
  | "connectorUids"
>;

/** Settings as a request states them. An empty webhook URL means no webhook. */
export type SettingsInput = Omit<AppSettings, "scopes" | "connectorUids" | "webhookUrl"> & {
  /** The app may act as itself. */
  readonly clientCredentials: boolean;
  readonly webhookUrl: string;
  readonly scopeConfig: ScopesInput;
};

/**
 * Validates settings and removes duplicates from them.
 *
 * @throws Failure `invalid_argument` with the path of the first member that breaks a rule
 * (spec/oauth.md 1.3 to 1.5, 13).
 */
export function checkSettings(
  { scopeConfig, clientCredentials: _, ...input }: SettingsInput,
  rules: AddressRules,
): AppSettings {
  checkName(input.name);
  checkHomepage(input.homepageUrl);
  return {
    ...input,
    redirectUris: checkRedirectUris(input.redirectUris),
    allowedOrigins: checkOrigins(input.allowedOrigins),
    webhookUrl: input.webhookUrl === "" ? null : checkWebhookUrl("webhook_url", input.webhookUrl, rules),
    skillIds: unique(input.skillIds),
    ...checkScopeConfig(scopeConfig),
  };
}

/**
 * True when `after` has a scope or a connector that `before` lacks; earlier configurations do not count
 * (spec/decisions.md 30).
 */
export const isExpansion = (before: ScopeConfig, after: ScopeConfig): boolean =>
  after.scopes.some((scope) => !before.scopes.includes(scope)) ||
  after.connectorUids.some((uid) => !before.connectorUids.includes(uid));

function checkName(name: string): void {
  if (!nameForm.test(name))
    throw invalidArgument(
      "name",
      "must have 1 to 100 characters, not only spaces, and no control or bidirectional characters",
    );
}

function checkHomepage(url: string): void {
  const fault = url === "" ? undefined : findHttpsUrlFault(url);
  if (fault !== undefined) throw invalidArgument("homepage_url", fault);
}

function checkRedirectUris(uris: readonly string[]): readonly string[] {
  if (uris.length === 0 || uris.length > redirectUrisMax)
    throw invalidArgument("redirect_uris", `must have 1 to ${redirectUrisMax} URIs`);
  for (const [index, uri] of uris.entries()) {
    const fault = findRedirectUriFault(uri);
    if (fault !== undefined) throw invalidArgument(`redirect_uris[${index}]`, fault);
  }
  return unique(uris);
}

function checkOrigins(origins: readonly string[]): readonly string[] {
  if (origins.length > originsMax)
    throw invalidArgument("allowed_origins", `must have at most ${originsMax} origins`);
  checkEach("allowed_origins", origins, (origin) =>
    isHttpsOrigin(origin)
      ? undefined
      : "must be an https origin as browsers send it, for example https://app.example.com",
  );
  return unique(origins).toSorted();
}

/**
 * The scope use_connectors requires connectors, and connectors require the scope (spec/oauth.md 2,
 * spec/decisions.md 28).
 */
function checkScopeConfig({ scopes, connectorUids }: ScopesInput): ScopeConfig {
  checkEach("scope_config.scopes", scopes, (name) => (isScope(name) ? undefined : "is not a scope"));
  checkEach("scope_config.connector_uids", connectorUids, connectorFault);
  const usesConnectors = scopes.includes("use_connectors");
  if (usesConnectors && connectorUids.length === 0)
    throw invalidArgument("scope_config.connector_uids", "must not be empty with the scope use_connectors");
  if (!usesConnectors && connectorUids.length > 0)
    throw invalidArgument("scope_config.connector_uids", "needs the scope use_connectors");
  return { scopes: unique(scopes).filter(isScope), connectorUids: unique(connectorUids) };
}

function connectorFault(uid: string): string | undefined {
  if (uid === myBrowserId) return "is My Browser: request the scope use_my_browsers instead";
  return connectorById(uid) ? undefined : "is not a connector";
}

function checkEach(
  path: string,
  items: readonly string[],
  findFault: (item: string) => string | undefined,
): void {
  for (const [index, item] of items.entries()) {
    const fault = findFault(item);
    if (fault !== undefined) throw invalidArgument(`${path}[${index}]`, fault);
  }
}

const unique = <T>(items: readonly T[]): readonly T[] => [...new Set(items)];
