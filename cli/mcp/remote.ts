import type { AnswerOf, Client } from "../../packages/client/src/index.ts";
import type { Role } from "../../src/core/accounts/account.ts";
import type { ScopeName } from "../../src/core/accounts/caller.ts";
import type { KeyScope } from "../../src/core/accounts/key-scopes.ts";
import type { Rights } from "../../src/pipeline/access.ts";
import { type FileDetail, type Operations, Refusal } from "../../src/protocols/shared/operations.ts";
import { operationsOver, refusals } from "../../src/protocols/shared/operations-over.ts";

/** How long the scopes and the role of the credential are remembered. */
const callerMs = 60_000;

/** The operations of an installation, for the credential of a client. */
export function remoteOperations(client: Client, now: () => number, fetch: typeof globalThis.fetch): Operations {
  let known: { readonly caller: Rights; readonly until: number } | undefined;

  async function readCaller(signal: AbortSignal): Promise<Rights> {
    if (known && now() < known.until) return known.caller;
    const caller = rightsOf(await refusals(() => client.users.me({}, { signal })));
    known = { caller, until: now() + callerMs };
    return caller;
  }

  return {
    ...operationsOver(client),
    caller: readCaller,
    upload: async (filename, bytes, signal) => (await refusals(() => client.files.upload(bytes, { filename, signal }))) as FileDetail,
    async download({ download_url: url }, most, signal) {
      if (url === undefined) throw new Refusal("not_found", "file not found", { field: "file_id" });
      const answer = await fetch(url, { signal, headers: { range: `bytes=0-${most - 1}` } });
      // An empty file has no range.
      if (answer.status === 416) return new Uint8Array();
      if (!answer.ok) throw new Refusal("not_found", `the file was answered with ${answer.status}`, { field: "file_id" });
      return new Uint8Array(await answer.arrayBuffer()).subarray(0, most);
    },
  };
}

/** The rights of a credential, as user.me describes them. */
export function rightsOf({ credential_kind: kind, scopes, project_ids: projectIds, role }: AnswerOf<"user.me">): Rights {
  // Scopes and roles that this release does not know give no tool.
  if (kind === "token") return { credential: { kind, scopes: (scopes ?? []) as ScopeName[], service: false }, role: null };
  return {
    credential: { kind: "key", keyKind: "general", scopes: (scopes ?? null) as KeyScope[] | null },
    role: role === undefined ? null : (role.replace("TEAM_MEMBER_ROLE_", "").toLowerCase() as Role),
    within: projectIds && { projectIds, apiKeyId: "" },
  };
}
