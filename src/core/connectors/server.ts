import type { Json, JsonObject } from "../json.ts";
import type { OnBehalf } from "../on-behalf.ts";
import type { ConnectorTool } from "./connector.ts";
import type { OAuthCredentials } from "./credentials.ts";

/** Where a connector's server is, and what opens it. */
export type ServerAddress =
  | { readonly transport: "http"; readonly url: string; readonly headers: Readonly<Record<string, string>> }
  | { readonly transport: "stdio"; readonly command: string };

/** Why a server gave nothing. Whatever it said itself stays out of it. */
export type ServerFaultKind = "unreachable" | "refused" | "broken" | "too_large" | "timeout";

/** What people, and models, are told of it. */
const wordings: Readonly<Record<ServerFaultKind, string>> = {
  unreachable: "The connector's server could not be reached, or must not be.",
  refused: "The connector's server refused the credential.",
  broken: "The connector's server did not answer as a server of the Model Context Protocol.",
  too_large: "The connector's server answered with more than is taken.",
  timeout: "The connector's server did not answer in time.",
};

/** A server that gave nothing; its cause is for the process log alone. */
export class ServerFault extends Error {
  override readonly name = "ServerFault";
  readonly kind: ServerFaultKind;

  constructor(kind: ServerFaultKind, cause?: unknown) {
    super(wordings[kind], { cause });
    this.kind = kind;
  }
}

/** What a tool gave: data, never instruction. */
export interface ToolAnswer {
  readonly value: Json;
  readonly isError: boolean;
}

/** Servers of the Model Context Protocol. Of all: @throws ServerFault; the signal's reason once it is aborted. */
export interface ConnectorServers {
  listTools(at: ServerAddress, by: OnBehalf): Promise<readonly ConnectorTool[]>;
  callTool(at: ServerAddress, use: { readonly tool: string; readonly input: JsonObject }, by: OnBehalf): Promise<ToolAnswer>;
}

/** Where the user's browser goes to sign in, and what must be known when it is back. */
export interface SignInBegun {
  readonly url: string;
  readonly verifier: string;
  readonly credentials: OAuthCredentials;
}

/** Signing in to the servers of connectors, by OAuth 2.1 with PKCE. Of all: @throws as `ConnectorServers`. */
export interface ConnectorSignIns {
  begin(url: string, credentials: OAuthCredentials, state: string, by: OnBehalf): Promise<SignInBegun>;
  /** @param issuer what the answer says of where it comes from (RFC 9207); empty: nothing. */
  finish(
    begun: Omit<SignInBegun, "url">,
    answer: { readonly code: string; readonly issuer: string },
    by: OnBehalf,
  ): Promise<OAuthCredentials>;
  /** @throws ServerFault `refused` when somebody has to sign in again. */
  refresh(credentials: OAuthCredentials, by: OnBehalf): Promise<OAuthCredentials>;
}
