import type { Caller } from "../caller.ts";
import { Failure } from "../failure.ts";
import { myBrowserId } from "./catalogue.ts";

/**
 * Refuses what an app names without its user having granted it: connectors by the
 * scope use_connectors and the consent page, My Browser by its own scope, and
 * neither by the other's (contract/oauth.md 2, 3, contract/v2.md 9.9).
 *
 * @throws Failure `insufficient_scope` with the first connector that is not granted.
 */
export function checkGranted({ credential }: Caller, uids: readonly string[]): void {
  if (credential.kind !== "token") return;
  const { scopes, connectorUids } = credential;
  const isGranted = (uid: string): boolean =>
    uid === myBrowserId ? scopes.includes("use_my_browsers") : scopes.includes("use_connectors") && connectorUids.includes(uid);
  const missing = uids.find((uid) => !isGranted(uid));
  if (missing !== undefined) throw new Failure("insufficient_scope", `insufficient_scope: connector ${missing} not granted`);
}
