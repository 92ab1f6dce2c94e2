import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type Configuration,
  calculatePKCECodeChallenge,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from "openid-client";
import type { Vouched } from "../core/sign-in/by-identity.ts";

/** The provider, and who we are to it. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Lower case; empty: any. */
  readonly domains: readonly string[];
  readonly label: string;
  readonly redirectUri: string;
}

/** What the browser keeps, sealed, while it is at the provider. */
export interface Pending {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  /** Prove again who one is: a session of the provider's own is not enough. */
  readonly anew: boolean;
}

/** An OpenID Connect provider: authorization code with PKCE, state and nonce. */
export interface Provider {
  /** What the sign-in page calls it. */
  readonly label: string;
  /** Where the browser goes. Rejects when the provider cannot be reached; its text is a stranger's. */
  begin(anew: boolean): Promise<{ readonly url: string; readonly pending: Pending }>;
  /**
   * Whom the provider vouches for; null for somebody of another domain.
   *
   * @param query of the address that the browser came back with.
   * @throws whatever openid-client does for an answer that is not what was asked for: its text is a stranger's.
   */
  finish(query: string, pending: Pending): Promise<Vouched | null>;
}

const patienceSeconds = 10;
/** A proof that is asked for anew may be so old when it arrives. */
const anewSeconds = 300;

/** A provider that is asked for its metadata at the first use, and again while it cannot be reached. */
export function oidcProvider(settings: ProviderSettings): Provider {
  let found: Promise<Configuration> | undefined;
  const configuration = () => {
    found ??= discover(settings).catch((thrown: unknown) => {
      found = undefined;
      throw thrown;
    });
    return found;
  };
  return {
    label: settings.label,
    async begin(anew) {
      const pending = { verifier: randomPKCECodeVerifier(), state: randomState(), nonce: randomNonce(), anew };
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: settings.redirectUri,
        scope: "openid email",
        code_challenge: await calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: "S256",
        state: pending.state,
        nonce: pending.nonce,
        ...(anew ? { prompt: "login", max_age: `${anewSeconds}` } : {}),
      });
      return { url: url.href, pending };
    },
    async finish(query, { verifier, state, nonce, anew }) {
      const tokens = await authorizationCodeGrant(await configuration(), new URL(`${settings.redirectUri}?${query}`), {
        pkceCodeVerifier: verifier,
        expectedState: state,
        expectedNonce: nonce,
        idTokenExpected: true,
        ...(anew ? { maxAge: anewSeconds } : {}),
      });
      const claims: Claims = tokens.claims() ?? {};
      // Providers that keep to the letter tell the address only here.
      const more =
        claims.email === undefined && claims.sub ? await fetchUserInfo(await configuration(), tokens.access_token, claims.sub) : {};
      return vouched({ ...more, ...claims }, settings.domains);
    },
  };
}

function discover({ issuer, clientId, clientSecret }: ProviderSettings): Promise<Configuration> {
  // The configuration has https for every issuer but those of this machine.
  const execute = issuer.startsWith("http:") ? [allowInsecureRequests] : [];
  return discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: patienceSeconds });
}

/** What is read of an ID token. */
interface Claims {
  readonly iss?: string;
  readonly sub?: string;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** An address that is not said to be verified is none (contract/decisions.md 34). */
export function vouched({ iss, sub, email, email_verified }: Claims, domains: readonly string[]): Vouched | null {
  if (!iss || !sub) return null;
  const verifiedEmail = email_verified === true && typeof email === "string" ? email.trim().toLowerCase() : null;
  const domain = verifiedEmail?.split("@").at(-1) ?? "";
  if (domains.length > 0 && !domains.includes(domain)) return null;
  return { issuer: iss, subject: sub, verifiedEmail };
}
