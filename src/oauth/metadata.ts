import { listedScopes, type ScopeName, scopeNames } from "../core/accounts/caller.ts";
import { mcpScopes } from "../core/oauth/app.ts";
import { mcpResource } from "../core/oauth/resource.ts";

export interface MetadataParts {
  /** `BASE_URL` and `CONSENT_URL`. */
  readonly issuer: string;
  readonly consentUrl: string;
  /** Clients can register themselves (`OAUTH_REGISTRATION`). */
  readonly registration: boolean;
}

/** The address at which clients register themselves (RFC 7591). */
export const registrationPath = "/oauth/register";

const resourcePath = "/.well-known/oauth-protected-resource";

/**
 * The address of the metadata of the MCP server, for the `resource_metadata` of its challenges (RFC 9728
 * 5.1).
 */
export const mcpMetadataUrl = (issuer: string): string => `${issuer}${resourcePath}/mcp`;

/** The metadata documents by their paths (RFC 8414, RFC 9728). */
export const metadataDocuments = (parts: MetadataParts): Readonly<Record<string, object>> => ({
  "/.well-known/oauth-authorization-server": authorizationServer(parts),
  [resourcePath]: protectedResource(parts.issuer, parts.issuer, "The API", scopeNames),
  [`${resourcePath}/mcp`]: protectedResource(
    parts.issuer,
    mcpResource(parts.issuer),
    "The MCP server",
    mcpScopes,
  ),
});

/** The address at which a token reads who its user is. */
export const userinfoPath = "/oauth/userinfo";
/** The address at which devices without a browser begin (RFC 8628 3.1), and the grant type of their codes. */
export const devicePath = "/oauth/device_authorization";
export const deviceGrantType = "urn:ietf:params:oauth:grant-type:device_code";

export const grantTypes: readonly string[] = [
  "authorization_code",
  "refresh_token",
  "client_credentials",
  deviceGrantType,
];

const methods = ["client_secret_basic", "client_secret_post"];

/** RFC 8414 2: the issuer is `BASE_URL`. */
const authorizationServer = ({ issuer, consentUrl, registration }: MetadataParts): object => ({
  issuer,
  authorization_endpoint: `${consentUrl}/openapi/oauth`,
  token_endpoint: `${issuer}/oauth/token`,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  introspection_endpoint: `${issuer}/oauth/introspect`,
  device_authorization_endpoint: `${issuer}${devicePath}`,
  ...(registration && { registration_endpoint: `${issuer}${registrationPath}` }),
  userinfo_endpoint: `${issuer}${userinfoPath}`,
  jwks_uri: `${issuer}/oauth/jwks`,
  scopes_supported: listedScopes(scopeNames),
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: grantTypes,
  token_endpoint_auth_methods_supported: [...methods, "none"],
  revocation_endpoint_auth_methods_supported: [...methods, "none"],
  introspection_endpoint_auth_methods_supported: methods,
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
  client_id_metadata_document_supported: true,
  protected_resources: [issuer, mcpResource(issuer)],
});

/** RFC 9728 2. */
const protectedResource = (
  issuer: string,
  resource: string,
  name: string,
  scopes: readonly ScopeName[],
): object => ({
  resource,
  authorization_servers: [issuer],
  scopes_supported: listedScopes(scopes),
  bearer_methods_supported: ["header"],
  resource_name: name,
});
