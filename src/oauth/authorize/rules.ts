import type { OAuthApp } from "../../core/oauth/app.ts";
import type { AuthorizationError } from "../../core/oauth/authorization.ts";
import { isChallenge } from "../../core/oauth/pkce.ts";
import { scopesIn } from "../../core/oauth/scope.ts";
import type { Parameters } from "./parameters.ts";

/** One rule of the authorization request; a broken one goes back to the app. */
interface Rule {
  readonly error: AuthorizationError;
  readonly description: string;
  broken(parameters: Parameters, app: OAuthApp): boolean;
}

/** In the order in which they are told (contract/oauth.md 4). */
export const rules: readonly Rule[] = [
  {
    // RFC 6749 3.1
    error: "invalid_request",
    description: "a parameter stands more than once",
    broken: ({ repeated }) => repeated !== null,
  },
  {
    // RFC 6749 3.1.1, 4.1.2.1; absent means code (contract/oauth.md 4)
    error: "unsupported_response_type",
    description: "response_type must be code",
    broken: (parameters) => (parameters.get("response_type") ?? "code") !== "code",
  },
  {
    // RFC 7636 4.3: without a method it would be plain
    error: "invalid_request",
    description: "code_challenge_method must be S256",
    broken: (parameters) => parameters.get("code_challenge") !== null && parameters.get("code_challenge_method") !== "S256",
  },
  {
    // RFC 7636 4.2
    error: "invalid_request",
    description: "code_challenge must be a SHA-256 in base64url, 43 characters",
    broken: (parameters) => !isChallenge(parameters.get("code_challenge") ?? "A".repeat(43)),
  },
  {
    // RFC 7636 4.3: a downgrade must not pass unseen (RFC 9700 4.8)
    error: "invalid_request",
    description: "code_challenge_method stands without a code_challenge",
    broken: (parameters) => parameters.get("code_challenge") === null && parameters.get("code_challenge_method") !== null,
  },
  {
    // RFC 6749 3.3, 4.1.2.1
    error: "invalid_scope",
    description: "a scope that the app is not configured for",
    broken(parameters, { scopes }) {
      const asked = parameters.get("scope");
      return asked !== null && scopesIn(asked, scopes) === null;
    },
  },
];
