import type { Caller, ScopeName } from "../accounts/caller.ts";
import { Failure } from "../failure.ts";
import { myBrowserId } from "./catalogue.ts";

interface Granted {
  readonly scopes: readonly ScopeName[];
  readonly connectorUids: readonly string[];
}

/**
 * Whether an app may use a connector for its user. My Browser needs its own scope. Every other connector
 * needs the scope use_connectors and the user's consent to it (spec/oauth.md 2, 3, spec/api.md 9.9).
 */
export const isGranted = ({ scopes, connectorUids }: Granted, uid: string): boolean =>
  uid === myBrowserId
    ? scopes.includes("use_my_browsers")
    : scopes.includes("use_connectors") && connectorUids.includes(uid);

/**
 * Whether a caller may use some connectors only: an app those granted to it, a key with scopes none without
 * `connector:use`.
 */
export const isLimitedInConnectors = ({ credential }: Caller): boolean =>
  credential.kind === "token" ||
  (credential.kind === "key" && credential.scopes?.includes("connector:use") === false);

export function filterGranted(caller: Caller, uids: readonly string[]): readonly string[] {
  const { credential } = caller;
  if (credential.kind === "token") return uids.filter((uid) => isGranted(credential, uid));
  return isLimitedInConnectors(caller) ? [] : uids;
}

/**
 * Refuses connectors that the user has not granted to the app.
 *
 * @throws Failure `insufficient_scope` with the first connector that is not granted.
 */
export function checkGranted(caller: Caller, uids: readonly string[]): void {
  const granted = filterGranted(caller, uids);
  const missing = uids.find((uid) => !granted.includes(uid));
  if (missing !== undefined)
    throw new Failure("insufficient_scope", `insufficient_scope: connector ${missing} not granted`);
}
