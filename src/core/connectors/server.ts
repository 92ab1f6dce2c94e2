import type { OnBehalf } from "../accounts/caller.ts";
import type { Cipher } from "../cipher.ts";
import type { Json, JsonObject } from "../json.ts";
import type { ConnectorTool } from "./connector.ts";

/** The credentials of a connector's server; they are stored encrypted and never shown. */
export type Credentials =
  /** Sent in the header that `ConnectorServer` names. */
  { kind: "header"; value: string } | OAuthCredentials;

/** An account at the authorization server of a connector. */
export interface OAuthCredentials {
  readonly kind: "oauth";
  /** The platform's registration as a client there; null: not registered. */
  readonly client: JsonObject | null;
  /** The authorization server that issued client and tokens; empty: none. */
  readonly issuer: string;
  /** The server's metadata (RFC 8414, RFC 9728), for the refresh. */
  readonly metadata: JsonObject | null;
  readonly resource: string | null;
  readonly tokens: { access: string; refresh: string | null; expiresAt: number | null } | null;
  /** Unix milliseconds. Until then one process renews the tokens, and the others wait. */
  readonly renewingUntil?: number;
}

/** The credentials before the first sign-in. */
export const noTokens: OAuthCredentials = {
  kind: "oauth",
  client: null,
  issuer: "",
  metadata: null,
  resource: null,
  tokens: null,
};

/** Binds credentials to their connector, so that they cannot be opened as those of another one. */
export const credentialsContext = (connectorId: string): string => `connector ${connectorId}`;

export const sealCredentials = (
  cipher: Cipher,
  connectorId: string,
  credentials: Credentials,
): Uint8Array<ArrayBuffer> =>
  cipher.seal(Buffer.from(JSON.stringify(credentials)), credentialsContext(connectorId));

/** Null if there are none. */
export const openCredentials = (
  cipher: Cipher,
  { id, credentials }: { id: string; credentials: Uint8Array | null },
): Credentials | null =>
  // Safe cast: `sealCredentials` sealed them.
  credentials === null
    ? null
    : (JSON.parse(Buffer.from(cipher.open(credentials, credentialsContext(id))).toString()) as Credentials);

/** The data of a sign-in in progress, needed when the browser returns. */
export interface PendingSignIn {
  readonly verifier: string;
  readonly credentials: OAuthCredentials;
}

/** Binds a pending sign-in to its row. */
export const signInContext = (digest: string): string => `connector authorization ${digest}`;

export const sealPendingSignIn = (
  cipher: Cipher,
  digest: string,
  pending: PendingSignIn,
): Uint8Array<ArrayBuffer> => cipher.seal(Buffer.from(JSON.stringify(pending)), signInContext(digest));

export const openPendingSignIn = (cipher: Cipher, digest: string, sealed: Uint8Array): PendingSignIn =>
  // Safe cast: `sealPendingSignIn` sealed it.
  JSON.parse(Buffer.from(cipher.open(sealed, signInContext(digest))).toString()) as PendingSignIn;

/** The location of a connector's server, with its credentials. */
export type ServerAddress =
  | { readonly transport: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly transport: "stdio"; readonly command: string };

/** Why a server returned no result. The server's own text is not part of it. */
export type ServerFaultKind = "unreachable" | "refused" | "broken" | "too_large" | "timeout";

/** The error texts for users and models. */
const faultTexts: Readonly<Record<ServerFaultKind, string>> = {
  unreachable: "The connector's server could not be reached.",
  refused: "The connector's server refused the credential.",
  broken: "The connector's server did not answer as a server of the Model Context Protocol.",
  too_large: "The answer of the connector's server is too large.",
  timeout: "The connector's server did not answer in time.",
};

/** Why no connection to a server was made, or what it answered. */
export type Unreached =
  | "name_not_found"
  | "name_not_answered"
  | "address_refused"
  | "connection_refused"
  | "connection"
  | "timeout"
  | "tls"
  | "no_command";

const unreachedTexts: Readonly<Record<Unreached, string>> = {
  name_not_found: "The name of the connector's server was not found. Check its address.",
  name_not_answered: "The look-up of the name of the connector's server had no answer.",
  address_refused:
    "The connector's server has an address that is not allowed: not public, another port than 443, or plain http. The operator allows addresses by CONNECTOR_ALLOW.",
  connection_refused: "The connector's server refused the connection: no program listens at its address.",
  connection: "The connection to the connector's server failed or broke.",
  timeout: "The connector's server accepted no connection in time.",
  tls: "The connector's server has no valid TLS certificate, or speaks no TLS.",
  no_command: "The operator allows no such command, or no longer.",
};

/** A server returned no result. `cause` is for the process log only. */
export class ServerFault extends Error {
  override readonly name = "ServerFault";
  readonly kind: ServerFaultKind;

  /**
   * @param detail what makes the text of the kind more precise: why it was not reached, or the status of its
   * answer.
   */
  constructor(kind: ServerFaultKind, cause?: unknown, detail?: Unreached | number) {
    super(typeof detail === "string" ? unreachedTexts[detail] : faultTexts[kind] + statusText(detail), {
      cause,
    });
    this.kind = kind;
  }
}

/** The status of an answer, as a sentence. */
const statusText = (status: number | undefined): string =>
  status === undefined ? "" : ` It answered with the status ${status}.`;

/** The result of a tool: data, never an instruction. */
export interface ToolAnswer {
  readonly value: Json;
  readonly isError: boolean;
  /** Its pictures, in base64, as the server gave them. */
  readonly images?: readonly string[];
}

/**
 * Servers of the Model Context Protocol. Every method: @throws ServerFault, or the signal's reason once it is
 * aborted.
 */
export interface ConnectorServers {
  listTools(at: ServerAddress, by: OnBehalf): Promise<readonly ConnectorTool[]>;
  callTool(at: ServerAddress, use: { tool: string; input: JsonObject }, by: OnBehalf): Promise<ToolAnswer>;
}

/** The URL where the user signs in, and the data needed when the browser returns. */
export interface StartedSignIn {
  readonly url: string;
  readonly verifier: string;
  readonly credentials: OAuthCredentials;
}

/**
 * Signs in to the servers of connectors, by OAuth 2.1 with PKCE. Every method: @throws as `ConnectorServers`.
 */
export interface ConnectorSignIns {
  begin(url: string, credentials: OAuthCredentials, state: string, by: OnBehalf): Promise<StartedSignIn>;
  /** @param answer `issuer` is the parameter `iss` (RFC 9207); empty if absent. */
  finish(
    begun: Omit<StartedSignIn, "url">,
    answer: { code: string; issuer: string },
    by: OnBehalf,
  ): Promise<OAuthCredentials>;
  /** @throws ServerFault `refused` when a user has to sign in again. */
  refresh(credentials: OAuthCredentials, by: OnBehalf): Promise<OAuthCredentials>;
}
