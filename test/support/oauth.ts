import { createHash } from "node:crypto";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { OAuthApp } from "../../src/core/oauth/app.ts";
import { approve } from "../../src/core/oauth/consent.ts";
import type { Store } from "../../src/core/store.ts";
import type { Person, Service } from "./service.ts";

/** The issuer of every test's platform. */
export const issuer = "https://platform.test";
/** The pair of RFC 7636 appendix B. */
export const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
export const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

/** An app as `settings` creates it: by default of Ann's team in the north. */
export const sampleApp = (members: Partial<OAuthApp> = {}): OAuthApp => ({
  clientId: `client_${systemIds.short()}`,
  spaceId: "north",
  creatorId: "ann",
  name: "Post office",
  description: "",
  allowedOrigins: [],
  redirectUris: ["https://app.example/cb"],
  homepageUrl: "https://app.example",
  webhookUrl: null,
  scopes: ["create_task", "create_project"],
  connectorUids: [],
  skillIds: [],
  confidentialOnly: false,
  loopbackAnyPort: false,
  deviceAuthorization: false,
  serviceAccountId: null,
  verified: true,
  generation: 1,
  createdAt: 1000,
  updatedAt: 1000,
  ...members,
});

/** The three modes (spec/oauth.md 5.4). */
export const modes = ["pkce+secret", "secret", "pkce"] as const;
export type Mode = (typeof modes)[number];

/** An answer of an OAuth endpoint as received. */
export interface OAuthReply {
  readonly status: number;
  readonly headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: an answer is read as the client sees it, member by member
  readonly body: any;
}

/** Members of a body; undefined leaves one out. */
export type Members = Readonly<Record<string, string | undefined>>;

/** An app in the database, with one secret. */
export interface TestApp {
  readonly app: OAuthApp;
  readonly secret: string;
}

export const secretDigest = (secret: string): string => createHash("sha256").update(secret).digest("hex");

/** Inserts an app of a person's team into the store, with a secret. */
export async function putAppOf(
  store: Store,
  person: Pick<Person, "accountId" | "spaceId">,
  members: Partial<OAuthApp> = {},
): Promise<TestApp> {
  const app = sampleApp({ spaceId: person.spaceId, creatorId: person.accountId, ...members });
  const secret = `secret_${Buffer.from(systemRandom(32)).toString("base64url")}`;
  const digest = secretDigest(secret);
  await store.change(async (tx) => {
    await tx.apps.insert(app);
    await tx.apps.setOrigins(app.clientId, app.allowedOrigins);
    await tx.apps.insertSecret({
      id: systemIds.short(),
      clientId: app.clientId,
      digest,
      last4: secret.slice(-4),
      createdAt: 1000,
    });
  });
  return { app, secret };
}

export const putApp = (
  { store }: Pick<Service, "store">,
  person: Pick<Person, "accountId" | "spaceId">,
  members: Partial<OAuthApp> = {},
): Promise<TestApp> => putAppOf(store, person, members);

/** A code like those of the consent page. */
export async function codeFor(
  service: Pick<Service, "store">,
  person: Pick<Person, "accountId" | "spaceId">,
  { app }: TestApp,
  mode: Mode,
  now = Date.now(),
  resource: string | null = null,
): Promise<string> {
  const { accountId, spaceId } = person;
  const [redirectUri = ""] = app.redirectUris;
  const request = {
    scopes: app.scopes,
    state: null,
    challenge: mode === "secret" ? null : challenge,
    prompt: null,
    issuer,
    resource,
  };
  const approval = {
    request: { app, redirectUri, ...request },
    accountId,
    spaceId,
    connectorUids: app.connectorUids,
  };
  return (
    await service.store.change((tx) => approve(tx, { now, ids: systemIds, random: systemRandom }, approval))
  ).code;
}

/** Posts a form to an endpoint, or JSON, or another type. */
export async function postForm(
  url: string,
  path: string,
  members: Members,
  {
    headers = {},
    json = false,
  }: { readonly headers?: Readonly<Record<string, string>>; readonly json?: boolean } = {},
): Promise<OAuthReply> {
  const present = Object.entries(members).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, value]],
  );
  const body = json ? JSON.stringify(Object.fromEntries(present)) : new URLSearchParams(present).toString();
  const type = json ? "application/json" : "application/x-www-form-urlencoded";
  return replyOf(
    await fetch(`${url}${path}`, { method: "POST", headers: { "content-type": type, ...headers }, body }),
  );
}

export async function replyOf(reply: Response): Promise<OAuthReply> {
  const text = await reply.text();
  return { status: reply.status, headers: reply.headers, body: text === "" ? null : JSON.parse(text) };
}

/** The proof of a mode at the exchange, in addition to the code. */
export const exchangeProof = (mode: Mode, { app, secret }: TestApp): Members => ({
  client_id: app.clientId,
  ...(mode === "pkce" ? {} : { client_secret: secret }),
  ...(mode === "secret" ? {} : { code_verifier: verifier }),
});

/** The proof of a mode at a refresh, in addition to the token. */
export const refreshProof = (mode: Mode, { app, secret }: TestApp): Members => ({
  client_id: app.clientId,
  ...(mode === "pkce" ? {} : { client_secret: secret }),
  ...(mode === "pkce+secret" ? { code_verifier: verifier } : {}),
});

/** Exchanges a code at the next node. */
export const exchangeCode = (
  service: Pick<Service, "url">,
  of: TestApp,
  mode: Mode,
  code: string,
  members: Members = {},
): Promise<OAuthReply> =>
  postForm(service.url, "/oauth/token", {
    grant_type: "authorization_code",
    code,
    redirect_uri: of.app.redirectUris[0],
    ...exchangeProof(mode, of),
    ...members,
  });

/** Refreshes at the next node. */
export const refreshWith = (
  service: Pick<Service, "url">,
  of: TestApp,
  mode: Mode,
  refreshToken: string,
  members: Members = {},
): Promise<OAuthReply> =>
  postForm(service.url, "/oauth/token", {
    grant_type: "refresh_token",
    refresh_token: refreshToken,
    ...refreshProof(mode, of),
    ...members,
  });

/** A fresh token pair of a mode. */
export async function pairOf(
  service: Pick<Service, "store" | "url">,
  person: Pick<Person, "accountId" | "spaceId">,
  of: TestApp,
  mode: Mode,
  now?: number,
): Promise<OAuthReply["body"]> {
  const { status, body } = await exchangeCode(
    service,
    of,
    mode,
    await codeFor(service, person, of, mode, now),
  );
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body;
}

/** `user.me` by a token, at a node: every valid token may call it. */
export async function userMe(url: string, accessToken: string): Promise<OAuthReply> {
  const headers = { authorization: `Bearer ${accessToken}`, "content-type": "application/json" };
  return replyOf(await fetch(`${url}/v2/user.me`, { method: "POST", headers, body: "{}" }));
}
