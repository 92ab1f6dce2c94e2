import { connectorById, myBrowserId } from "../connectors/catalogue.ts";
import { invalid } from "../failure.ts";
import { type AddressRules, readAddress } from "../webhooks/address.ts";
import type { OAuthApp, ScopeConfig } from "./app.ts";
import { redirectUriFlaw } from "./redirect-uri-rules.ts";
import { isScope } from "./scope.ts";
import { httpsFlaw } from "./uri.ts";

/** Redirect URIs of an app (contract/oauth.md 13). */
const redirectUrisMax = 20;

/** What an app may ask for, as a request has it, before anything of it is believed. */
export interface WantedScopes {
  readonly scopes: readonly string[];
  readonly connectorUids: readonly string[];
}

/** What people set of an app. */
export type AppSettings = Pick<
  OAuthApp,
  | "name"
  | "description"
  | "redirectUris"
  | "homepageUrl"
  | "webhookUrl"
  | "skillIds"
  | "confidentialOnly"
  | "loopbackAnyPort"
  | "scopes"
  | "connectorUids"
>;

/** The same as it is asked for. An empty webhook URL is none. */
export type WantedSettings = Omit<AppSettings, "scopes" | "connectorUids" | "webhookUrl"> & {
  readonly webhookUrl: string;
  readonly scopeConfig: WantedScopes;
};

/** Something to be seen, and nothing that shows a name as another (contract/decisions.md 29). */
const nameForm = /^(?=.*\P{White_Space})[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,100}$/u;

/**
 * Settings as they are kept: without doubles.
 *
 * @throws Failure `invalid` with the path of the first member that breaks a rule
 * (contract/oauth.md 1.3 to 1.5, 13).
 */
export function checkSettings({ scopeConfig, ...wanted }: WantedSettings, rules: AddressRules): AppSettings {
  checkName(wanted.name);
  checkHomepage(wanted.homepageUrl);
  return {
    ...wanted,
    redirectUris: checkRedirectUris(wanted.redirectUris),
    webhookUrl: wanted.webhookUrl === "" ? null : readAddress("webhook_url", wanted.webhookUrl, rules),
    skillIds: once(wanted.skillIds),
    ...checkScopeConfig(scopeConfig),
  };
}

/** True when there is a scope or a connector that was not there just before, whatever was before that (contract/decisions.md 30). */
export const isExpansion = (before: ScopeConfig, after: ScopeConfig): boolean =>
  after.scopes.some((scope) => !before.scopes.includes(scope)) || after.connectorUids.some((uid) => !before.connectorUids.includes(uid));

function checkName(name: string): void {
  if (!nameForm.test(name))
    throw invalid("name", "must have 1 to 100 characters, not only blanks, and no control or bidirectional characters");
}

function checkHomepage(url: string): void {
  const flaw = url === "" ? undefined : httpsFlaw(url);
  if (flaw !== undefined) throw invalid("homepage_url", flaw);
}

function checkRedirectUris(uris: readonly string[]): readonly string[] {
  if (uris.length === 0 || uris.length > redirectUrisMax) throw invalid("redirect_uris", `must have 1 to ${redirectUrisMax} URIs`);
  for (const [index, uri] of uris.entries()) {
    const flaw = redirectUriFlaw(uri);
    if (flaw !== undefined) throw invalid(`redirect_uris[${index}]`, flaw);
  }
  return once(uris);
}

/** The scope use_connectors and connectors need each other (contract/oauth.md 2, contract/decisions.md 28). */
function checkScopeConfig({ scopes, connectorUids }: WantedScopes): ScopeConfig {
  checkEach("scope_config.scopes", scopes, (name) => (isScope(name) ? undefined : "is no scope"));
  checkEach("scope_config.connector_uids", connectorUids, connectorFlaw);
  const used = scopes.includes("use_connectors");
  if (used && connectorUids.length === 0) throw invalid("scope_config.connector_uids", "must not be empty with the scope use_connectors");
  if (!used && connectorUids.length > 0) throw invalid("scope_config.connector_uids", "needs the scope use_connectors");
  return { scopes: once(scopes).filter(isScope), connectorUids: once(connectorUids) };
}

function connectorFlaw(uid: string): string | undefined {
  if (uid === myBrowserId) return "is My Browser: the scope use_my_browsers opens it";
  return connectorById(uid) ? undefined : "is no connector";
}

function checkEach(path: string, items: readonly string[], flawOf: (item: string) => string | undefined): void {
  for (const [index, item] of items.entries()) {
    const flaw = flawOf(item);
    if (flaw !== undefined) throw invalid(`${path}[${index}]`, flaw);
  }
}

const once = <T>(items: readonly T[]): readonly T[] => [...new Set(items)];
