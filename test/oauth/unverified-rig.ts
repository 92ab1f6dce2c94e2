import { mkdtempSync, rmSync } from "node:fs";
import type { RequestListener } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect } from "vitest";
import {
  allow,
  answerIn,
  authorizePath,
  type FormFields,
  requestOf,
  type Visitor,
} from "../console/consent-rig.ts";
import { openReceiver, type Receiver, selfSigned } from "../egress/receiver.ts";
import type { PageResponse } from "../sign-in/browser.ts";
import { issuer, type Members, type OAuthReply, postForm, verifier } from "../support/oauth.ts";

/** The address of the MCP server of every test's platform. */
export const mcp = `${issuer}/mcp`;

/** A server of metadata documents on this machine, with a trusted certificate. */
export interface DocumentServer extends Receiver {
  /** The client id of the document. */
  readonly clientId: string;
}

/** Trusts a certificate of 127.0.0.1 for the tests of a file; the returned function opens servers with it. */
export function trustedServers(): (answer: RequestListener) => Promise<Receiver> {
  const trusted = getCACertificates("default");
  const folder = mkdtempSync(join(tmpdir(), "documents-"));
  const certificate = selfSigned(folder);
  beforeAll(() => setDefaultCACertificates([...trusted, certificate.cert]));
  afterAll(() => {
    setDefaultCACertificates([...trusted]);
    rmSync(folder, { recursive: true, force: true });
  });
  return (answer) => openReceiver(answer, certificate);
}

/** The document of a client at `/client`, with changed members. */
export const documentOf = (origin: string, members: object = {}): string =>
  JSON.stringify({
    client_id: `${origin}/client`,
    client_name: "Kiosk",
    client_uri: `${origin}/about`,
    logo_uri: `${origin}/logo.png`,
    redirect_uris: [`${origin}/cb`, "http://localhost/cb", "https://elsewhere.example/cb"],
    ...members,
  });

/** Opens a server whose document has these members. */
export async function openDocument(
  open: ReturnType<typeof trustedServers>,
  members: (origin: string) => object = () => ({}),
  headers: Readonly<Record<string, string>> = {},
): Promise<DocumentServer> {
  const server = await open((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers });
    response.end(documentOf(server.url, members(server.url)));
  });
  return Object.assign(server, { clientId: `${server.url}/client` });
}

/** The authorization request of an unverified client. */
export const unverifiedRequest = (clientId: string, redirectUri: string, members: Members = {}): string =>
  requestOf({ app: { clientId, redirectUris: [redirectUri] } as never }, members); // Only these members are read.

/** The ways in which a request could lead to a client's address without a page. */
export const openRedirects: readonly Members[] = [
  { response_type: "token" },
  { resource: "https://elsewhere.example/" },
  { scope: "everything" },
  { prompt: "none", code_challenge: undefined, code_challenge_method: undefined },
];

/** The page with which an error of an unverified client is answered. */
export function refusalOf({ status, location, text }: PageResponse): string {
  expect([status, location]).toEqual([400, ""]);
  return text;
}

/** Approves a request for a space. */
export async function approveFor(browser: Visitor, request: string, spaceId: string): Promise<PageResponse> {
  const choice: FormFields = [["space", spaceId], ...allow];
  return browser.send(await browser.get(request), authorizePath, choice);
}

/** The tokens of an unverified client for a space. */
export async function tokensFor(
  url: string,
  browser: Visitor,
  {
    clientId,
    redirectUri,
    spaceId,
  }: { readonly clientId: string; readonly redirectUri: string; readonly spaceId: string },
  members: Members = {},
): Promise<OAuthReply["body"]> {
  const request = unverifiedRequest(clientId, redirectUri, members);
  const { code } = answerIn(await approveFor(browser, request, spaceId), redirectUri);
  const { body } = await exchangeFor(url, { clientId, redirectUri, code });
  return body;
}

export const exchangeFor = (
  url: string,
  {
    clientId,
    redirectUri,
    code,
  }: { readonly clientId: string; readonly redirectUri: string; readonly code: string | undefined },
  members: Members = {},
): Promise<OAuthReply> =>
  postForm(url, "/oauth/token", {
    ...{
      grant_type: "authorization_code",
      client_id: clientId,
      code,
      redirect_uri: redirectUri,
      code_verifier: verifier,
    },
    ...members,
  });
