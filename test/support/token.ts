import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { approve } from "../../src/core/oauth/consent.ts";
import { type ScopeName, scopeNames } from "../../src/core/oauth/scope.ts";
import { challenge, exchangeCode, issuer, putApp, type TestApp } from "./oauth.ts";
import { type Calling, callingWith, type Person, type Service } from "./service.ts";

/** An app that acts for somebody. */
export interface Token extends Calling {
  readonly clientId: string;
  readonly refreshToken: string;
}

export interface TokenOptions {
  /** Those that the user agrees to; create_task alone unless given. */
  readonly scopes?: readonly ScopeName[];
  /** Those that the user grants; the app may ask for these and no others, unless it is there already. */
  readonly connectorUids?: readonly string[];
  /** An app that is there; a new one unless given. */
  readonly of?: TestApp;
  /** The time of the platform's clock, where that is not the machine's. */
  readonly now?: number;
}

const gmail = ["9444d960-ab7e-450f-9cb9-b9467fb0adda"];

/** An app of somebody's team that may be let do everything. */
export const newApp = (service: Service, person: Person, connectorUids: readonly string[] = gmail): Promise<TestApp> =>
  putApp(service, person, { scopes: scopeNames, connectorUids });

/** A token by which an app acts for somebody, as the consent page and the token endpoint give it. */
export async function tokenOf(service: Service, person: Person, options: TokenOptions = {}): Promise<Token> {
  const { scopes = ["create_task"], connectorUids = [], now = Date.now() } = options;
  const of = options.of ?? (await newApp(service, person, options.connectorUids));
  // As it is by now: a code of an earlier generation opens nothing.
  const app = (await service.store.apps.find(of.app.clientId)) ?? of.app;
  const [redirectUri = ""] = app.redirectUris;
  const request = { app, redirectUri, scopes, state: null, challenge, prompt: null, issuer };
  const { accountId, spaceId } = person;
  const approval = { request, accountId, spaceId, connectorUids };
  const { code } = await service.store.change((tx) => approve(tx, { now, ids: systemIds, random: systemRandom }, approval));
  const { status, body } = await exchangeCode(service, of, "pkce", code);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const headers = { authorization: `Bearer ${body.access_token}` };
  return { ...callingWith(headers, () => service.url), clientId: app.clientId, refreshToken: body.refresh_token };
}
