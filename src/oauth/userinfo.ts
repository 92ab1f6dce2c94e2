import { failureOf } from "../core/failure.ts";
import { oauthRefusal } from "../core/oauth/refusal.ts";
import type { Store } from "../core/store.ts";
import type { Admission, Request } from "../pipeline/admission.ts";
import { OAuthFailure } from "./failure.ts";

/** What the endpoint needs. */
export interface UserinfoParts {
  /** Admits an access token, and no other credential, as a call of user.me. @throws Failure */
  readonly admitToken: (head: Request) => Promise<Admission>;
  readonly store: Pick<Store, "accounts">;
}

const invalidToken = (description: string) => new OAuthFailure(oauthRefusal("invalid_token", description));
const noScope = new OAuthFailure(
  oauthRefusal("insufficient_scope", "the token needs the scope profile or email"),
);

/**
 * Who the user of an access token is: `sub`, with the scope `profile` `name`, with `email` `email` and
 * `email_verified` (OpenID Connect Core 5.3). It is admitted and counted as user.me, and only by a token:
 * keys and cookies are not read.
 *
 * @returns the claims; throws OAuthFailure `invalid_token`, `insufficient_scope`, or a Failure of a limit.
 */
export function userinfo({ admitToken, store }: UserinfoParts): (head: Request) => Promise<object> {
  async function userOf(head: Request) {
    const { bearer } = head.credentials;
    if (bearer === null) throw invalidToken("Authorization: Bearer with an access token is required");
    try {
      return (await admitToken({ ...head, credentials: { ...head.credentials, keys: [], session: null } }))
        .caller;
    } catch (thrown) {
      const { reason } = failureOf(thrown);
      if (reason === "unauthenticated" || reason === "permission_denied")
        throw invalidToken("the access token is invalid, expired or of another kind");
      throw thrown;
    }
  }

  return async (head) => {
    const { accountId, spaceId, credential } = await userOf(head);
    const scopes = credential.kind === "token" ? credential.scopes : [];
    const [hasProfile, hasEmail] = [scopes.includes("profile"), scopes.includes("email")];
    if (!hasProfile && !hasEmail) throw noScope;
    const profile = await store.accounts.profile(accountId, spaceId);
    return {
      sub: accountId,
      ...(hasProfile && profile?.name && { name: profile.name }),
      ...(hasEmail && profile && { email: profile.email, email_verified: profile.emailVerified }),
    };
  };
}
