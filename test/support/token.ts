import { type ScopeName, scopeNames } from "../../src/core/accounts/caller.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { approve } from "../../src/core/oauth/consent.ts";
import { mcpResource } from "../../src/core/oauth/resource.ts";
import { challenge, exchangeCode, issuer, putApp, type TestApp } from "./oauth.ts";
import { type Calling, callingWith, type Person, type Service } from "./service.ts";

/** An app that acts for a user. */
export interface Token extends Calling {
  readonly clientId: string;
  readonly refreshToken: string;
}

export interface TokenOptions {
  /** The scopes that the user agrees to; by default only create_task. */
  readonly scopes?: readonly ScopeName[];
  /** The scopes that a new app may request, which the user grants; ignored for an existing app. */
  readonly connectorUids?: readonly string[];
  /** An existing app; by default a new one. */
  readonly of?: TestApp;
  /** A token for the address of MCP, which is refused everywhere else. */
  readonly forMcp?: boolean;
  /** The time of the platform's clock, if it differs from the machine's. */
  readonly now?: number;
}

const gmail = ["9444d960-ab7e-450f-9cb9-b9467fb0adda"];

/** An app of a person's team that may be granted every scope. */
export const newApp = (
  service: Service,
  person: Person,
  connectorUids: readonly string[] = gmail,
): Promise<TestApp> => putApp(service, person, { scopes: scopeNames, connectorUids });

/** A token by which an app acts for a user, from the consent page and the token endpoint. */
export async function tokenOf(service: Service, person: Person, options: TokenOptions = {}): Promise<Token> {
  const { scopes = ["create_task"], connectorUids = [], now = Date.now() } = options;
  const of = options.of ?? (await newApp(service, person, options.connectorUids));
  // The current generation: a code of an earlier one grants no access.
  const app = (await service.store.apps.find(of.app.clientId)) ?? of.app;
  const [redirectUri = ""] = app.redirectUris;
  const request = {
    app,
    redirectUri,
    scopes,
    state: null,
    challenge,
    prompt: null,
    issuer,
    resource: options.forMcp ? mcpResource(issuer) : null,
  };
  const { accountId, spaceId } = person;
  const approval = { request, accountId, spaceId, connectorUids };
  const { code } = await service.store.change((tx) =>
    approve(tx, { now, ids: systemIds, random: systemRandom }, approval),
  );
  const { status, body } = await exchangeCode(service, of, "pkce", code);
  if (status !== 200) throw new Error(JSON.stringify(body));
  const headers = { authorization: `Bearer ${body.access_token}` };
  return {
    ...callingWith(headers, () => service.url),
    clientId: app.clientId,
    refreshToken: body.refresh_token,
  };
}
