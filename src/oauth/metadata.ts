import { scopeNames } from "../core/oauth/scope.ts";

const methods = ["client_secret_basic", "client_secret_post"];

/** `GET /.well-known/oauth-authorization-server` (RFC 8414 2): the issuer is `BASE_URL`. */
export const metadata = (issuer: string, consentUrl: string): object => ({
  issuer,
  authorization_endpoint: `${consentUrl}/openapi/oauth`,
  token_endpoint: `${issuer}/oauth/token`,
  revocation_endpoint: `${issuer}/oauth/revoke`,
  introspection_endpoint: `${issuer}/oauth/introspect`,
  jwks_uri: `${issuer}/oauth/jwks`,
  scopes_supported: scopeNames,
  response_types_supported: ["code"],
  response_modes_supported: ["query"],
  grant_types_supported: ["authorization_code", "refresh_token"],
  token_endpoint_auth_methods_supported: [...methods, "none"],
  revocation_endpoint_auth_methods_supported: [...methods, "none"],
  introspection_endpoint_auth_methods_supported: methods,
  code_challenge_methods_supported: ["S256"],
  authorization_response_iss_parameter_supported: true,
});
