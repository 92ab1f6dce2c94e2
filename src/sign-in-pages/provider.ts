import type { Configuration } from "openid-client";
import type { ConfirmedIdentity } from "../core/sign-in/prove.ts";
import { type ClaimedGroups, readClaimedGroups } from "./group-claim.ts";

/** The provider's settings, and this installation's client credentials there. */
export interface ProviderSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** Lower case; empty: any. */
  readonly domains: readonly string[];
  readonly label: string;
  /** The claim with the groups of a person; null: groups are not read. */
  readonly groupsClaim: string | null;
  /** The scope that asks for it, in addition to `openid email`; null: none. */
  readonly groupsScope: string | null;
  readonly redirectUri: string;
}

/** The state of a sign-in, in a sealed cookie while the browser is at the provider. */
export interface PendingAuthorization {
  readonly verifier: string;
  readonly state: string;
  readonly nonce: string;
  /** The user must authenticate again: a session at the provider is not enough. */
  readonly anew: boolean;
}

/** An identity, and the person's groups at the provider. */
export interface ProviderIdentity extends ConfirmedIdentity {
  /** Null: groups are not read. */
  readonly groups: ClaimedGroups | null;
}

/** An OpenID Connect provider: authorization code with PKCE, state and nonce. */
export interface Provider {
  /** The provider's name on the sign-in page. */
  readonly label: string;
  /**
   * The provider's URL for the browser. Rejects if the provider cannot be reached; the error's text is
   * untrusted.
   */
  begin(signInAgain: boolean): Promise<{ readonly url: string; readonly pending: PendingAuthorization }>;
  /**
   * The identity that the provider confirms; null for another e-mail domain.
   *
   * @param query the query of the callback request.
   * @throws the error of openid-client for an invalid response; its text is untrusted.
   */
  finish(query: string, pending: PendingAuthorization): Promise<ProviderIdentity | null>;
}

const timeoutSeconds = 10;
/** The maximum age of a new authentication when it arrives. */
const authenticationMaxAgeSeconds = 300;

const openidClient = () => import("openid-client");

/** A provider whose metadata is fetched at the first use; failed fetches are retried at the next use. */
export function oidcProvider(settings: ProviderSettings): Provider {
  let discovered: Promise<Configuration> | undefined;
  const configuration = () => {
    discovered ??= discover(settings).catch((thrown: unknown) => {
      discovered = undefined;
      throw thrown;
    });
    return discovered;
  };
  return {
    label: settings.label,
    async begin(signInAgain) {
      const {
        buildAuthorizationUrl,
        calculatePKCECodeChallenge,
        randomNonce,
        randomPKCECodeVerifier,
        randomState,
      } = await openidClient();
      const pending = {
        verifier: randomPKCECodeVerifier(),
        state: randomState(),
        nonce: randomNonce(),
        anew: signInAgain,
      };
      const url = buildAuthorizationUrl(await configuration(), {
        redirect_uri: settings.redirectUri,
        scope: ["openid email", settings.groupsScope ?? []].flat().join(" "),
        code_challenge: await calculatePKCECodeChallenge(pending.verifier),
        code_challenge_method: "S256",
        state: pending.state,
        nonce: pending.nonce,
        ...(signInAgain ? { prompt: "login", max_age: `${authenticationMaxAgeSeconds}` } : {}),
      });
      return { url: url.href, pending };
    },
    async finish(query, { verifier, state, nonce, anew }) {
      const { authorizationCodeGrant, fetchUserInfo } = await openidClient();
      const tokens = await authorizationCodeGrant(
        await configuration(),
        new URL(`${settings.redirectUri}?${query}`),
        {
          pkceCodeVerifier: verifier,
          expectedState: state,
          expectedNonce: nonce,
          idTokenExpected: true,
          ...(anew ? { maxAge: authenticationMaxAgeSeconds } : {}),
        },
      );
      const claims: Claims = tokens.claims() ?? {};
      // Strictly compliant providers return the address and groups only here.
      const userInfo = needsUserInfo(
        claims,
        settings,
        (await configuration()).serverMetadata().userinfo_endpoint !== undefined,
      )
        ? await fetchUserInfo(await configuration(), tokens.access_token, claims.sub ?? "")
        : {};
      const all = { ...userInfo, ...claims };
      const identity = confirmIdentity(all, settings.domains);
      return (
        identity && {
          ...identity,
          groups: settings.groupsClaim === null ? null : readClaimedGroups(all, settings.groupsClaim),
        }
      );
    },
  };
}

function needsUserInfo(claims: Claims, { groupsClaim }: ProviderSettings, hasEndpoint: boolean): boolean {
  if (!claims.sub) return false;
  return (
    claims.email === undefined || (groupsClaim !== null && hasEndpoint && !Object.hasOwn(claims, groupsClaim))
  );
}

/** Reads the description of the identity provider. @throws when it cannot be read, or is of another issuer */
export async function checkProvider(
  settings: Pick<ProviderSettings, "issuer" | "clientId" | "clientSecret">,
): Promise<{ readonly authorizationEndpoint: string }> {
  return { authorizationEndpoint: (await discover(settings)).serverMetadata().authorization_endpoint ?? "" };
}

async function discover({
  issuer,
  clientId,
  clientSecret,
}: Pick<ProviderSettings, "issuer" | "clientId" | "clientSecret">): Promise<Configuration> {
  const { allowInsecureRequests, discovery } = await openidClient();
  // The configuration requires https for every issuer except on this machine.
  const execute = issuer.startsWith("http:") ? [allowInsecureRequests] : [];
  return discovery(new URL(issuer), clientId, clientSecret, undefined, { execute, timeout: timeoutSeconds });
}

/** The claims that are read from an ID token. */
interface Claims {
  readonly iss?: string;
  readonly sub?: string;
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** An address that is not verified is ignored (spec/decisions.md 34). */
export function confirmIdentity(
  { iss, sub, email, email_verified }: Claims,
  domains: readonly string[],
): ConfirmedIdentity | null {
  if (!iss || !sub) return null;
  const verifiedEmail =
    email_verified === true && typeof email === "string" ? email.trim().toLowerCase() : null;
  const domain = verifiedEmail?.split("@").at(-1) ?? "";
  if (domains.length > 0 && !domains.includes(domain)) return null;
  return { issuer: iss, subject: sub, verifiedEmail };
}
