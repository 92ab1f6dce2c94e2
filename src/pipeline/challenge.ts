import { type Failure, failureOf } from "../core/failure.ts";
import { Access_Credential } from "../gen/proto/taskplatform/options/v1/options_pb.ts";
import type { RequestCredentials } from "./credential.ts";
import type { Operation } from "./operations.ts";

/** The credentials that an operation accepts, for a caller who sent none of them (spec/decisions.md 46). */
export interface Challenge {
  /** Request headers that may carry such a credential, in lower case, the recommended one first. */
  readonly headers: readonly CredentialHeader[];
  /** The request had a Bearer credential. */
  readonly hasBearer: boolean;
}

export type CredentialHeader = "x-service-api-key" | "x-api-key" | "authorization" | "cookie";

/** The headers for each kind of credential, the documented one first. */
const headersOf: Readonly<Record<Access_Credential, readonly CredentialHeader[]>> = {
  [Access_Credential.CREDENTIAL_UNSPECIFIED]: [],
  [Access_Credential.API_KEY]: ["x-service-api-key", "authorization"],
  [Access_Credential.OAUTH]: ["authorization"],
  [Access_Credential.SESSION]: ["cookie"],
  [Access_Credential.EDISCOVERY]: ["x-api-key", "authorization"],
  [Access_Credential.SIEM]: ["x-api-key", "authorization"],
  [Access_Credential.TEAM_USER_MGMT]: ["x-api-key", "authorization"],
  [Access_Credential.TEAM_ASSET_AUDIT]: ["x-api-key", "authorization"],
  [Access_Credential.TEAM_ASSET_MGMT]: ["x-api-key", "authorization"],
  [Access_Credential.WORKER]: ["x-api-key", "authorization"],
};
const headerOrder: readonly CredentialHeader[] = [
  "x-service-api-key",
  "x-api-key",
  "authorization",
  "cookie",
];

const challenges = new WeakMap<Failure, Challenge>();

/**
 * Stores, for a refused credential, which credentials its operation accepts. The challenge is stored apart
 * from the failure because the code that throws it, for example a change whose caller was removed, does not
 * know the operation. Ignores other failures.
 */
export function noteChallenge(
  { access }: Operation,
  { bearer }: Pick<RequestCredentials, "bearer">,
  thrown: unknown,
): void {
  const failure = failureOf(thrown);
  if (failure.reason !== "unauthenticated" || access === null) return;
  const accepted = new Set([...access.credentials].flatMap((credential) => headersOf[credential]));
  // Sessions work on Connect only: they are listed only where the operation accepts nothing else.
  if (accepted.size > 1) accepted.delete("cookie");
  challenges.set(failure, {
    headers: headerOrder.filter((name) => accepted.has(name)),
    hasBearer: bearer !== null,
  });
}

/** The challenge that was stored for a failure. */
export const challengeOf = (failure: Failure): Challenge | undefined => challenges.get(failure);
