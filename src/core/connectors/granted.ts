import type { Caller } from "../caller.ts";
import { Failure } from "../failure.ts";
import type { OAuthGrant } from "../oauth/grant.ts";
import { myBrowserId } from "./catalogue.ts";

/** What an app was granted: a token says it for a call, the grant itself at any time. */
type Granted = Pick<OAuthGrant, "scopes" | "connectorUids">;

/**
 * Whether an app may use a connector for its user: connectors by the scope use_connectors and the consent page,
 * My Browser by its own scope, and neither by the other's (contract/oauth.md 2, 3, contract/v2.md 9.9).
 */
export const isGranted = ({ scopes, connectorUids }: Granted, uid: string): boolean =>
  uid === myBrowserId ? scopes.includes("use_my_browsers") : scopes.includes("use_connectors") && connectorUids.includes(uid);

/** Those of some connectors that a caller may use: an app those that it was granted, everybody else all. */
export const grantedOf = ({ credential }: Caller, uids: readonly string[]): readonly string[] =>
  credential.kind === "token" ? uids.filter((uid) => isGranted(credential, uid)) : uids;

/**
 * Refuses what an app names without its user having granted it.
 *
 * @throws Failure `insufficient_scope` with the first connector that is not granted.
 */
export function checkGranted(caller: Caller, uids: readonly string[]): void {
  const granted = grantedOf(caller, uids);
  const missing = uids.find((uid) => !granted.includes(uid));
  if (missing !== undefined) throw new Failure("insufficient_scope", `insufficient_scope: connector ${missing} not granted`);
}
