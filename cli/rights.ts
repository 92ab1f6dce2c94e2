import type { AnswerOf } from "../packages/client/src/index.ts";
import type { Role } from "../src/core/accounts/account.ts";
import type { ScopeName } from "../src/core/accounts/caller.ts";
import type { KeyScope } from "../src/core/accounts/key-scopes.ts";
import { notFound } from "../src/core/failure.ts";
import type { Rights } from "../src/pipeline/access.ts";
import type { CallerClient } from "../src/protocols/shared/caller-client.ts";
import type { Cli } from "./frame/command.ts";

/** How long the scopes and the role of the credential are remembered. */
const rightsMs = 60_000;

/** Clients of an installation for the protocols. The calls of each end with its signal. */
export function remoteClients({
  client: connect,
  context: { now, fetch },
}: Cli): (ended: AbortSignal) => CallerClient {
  let known: { readonly rights: Rights; readonly until: number } | undefined;
  return (signal) => {
    const client = connect({ signal, strict: true });
    return {
      ...client,
      async rights() {
        if (!known || now() >= known.until)
          known = { rights: rightsOf(await client.users.me()), until: now() + rightsMs };
        return known.rights;
      },
      async bytesOf({ download_url: downloadUrl }, most) {
        if (downloadUrl === undefined) throw notFound("file");
        const answer = await fetch(downloadUrl, { signal, headers: { range: `bytes=0-${most - 1}` } });
        // An empty file has no range.
        if (answer.status === 416) return new Uint8Array();
        if (!answer.ok) throw notFound("file");
        return new Uint8Array(await answer.arrayBuffer()).subarray(0, most);
      },
    };
  };
}

/** The rights of a credential, as user.me describes them. */
export function rightsOf({
  credential_kind: credentialKind,
  scopes,
  project_ids: projectIds,
  role,
}: AnswerOf<"user.me">): Rights {
  // Scopes and roles that this release does not know give no tool.
  if (credentialKind === "token")
    return {
      credential: { kind: credentialKind, scopes: (scopes ?? []) as ScopeName[], service: false },
      role: null,
    };
  return {
    credential: { kind: "key", keyKind: "general", scopes: (scopes ?? null) as KeyScope[] | null },
    role: role === undefined ? null : (role.replace("TEAM_MEMBER_ROLE_", "").toLowerCase() as Role),
    within: projectIds && { projectIds, apiKeyId: "" },
  };
}
