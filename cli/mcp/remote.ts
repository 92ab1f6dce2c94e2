import {
  type AnswerOf,
  ApiError,
  type CallOptions,
  type Client,
  type OperationName,
  type RequestOf,
} from "../../packages/client/src/index.ts";
import type { Rights } from "../../src/call/access.ts";
import type { Role } from "../../src/core/accounts/account.ts";
import type { ScopeName } from "../../src/core/accounts/caller.ts";
import type { KeyScope } from "../../src/core/accounts/key-scopes.ts";
import { type FileDetail, type FilePage, type Json, type Operations, Refusal, type Watched } from "../../src/doors/operations.ts";

/** How long the scopes and the role of the credential are remembered. */
const callerMs = 60_000;

/** The operations of an installation, for the credential of a client. */
export function remoteOperations(client: Client, now: () => number, fetch: typeof globalThis.fetch): Operations {
  const call = async (name: string, input: Json, signal: AbortSignal, idempotencyKey?: string): Promise<Json> => {
    // The adapter names operations of the catalogue, which the server checks.
    const { request_id, ...answer } = await refusing(() =>
      client.call(name as OperationName, input as RequestOf<OperationName>, { ...strict(signal), idempotencyKey }),
    );
    return answer;
  };
  let known: { readonly caller: Rights; readonly until: number } | undefined;

  async function readCaller(signal: AbortSignal): Promise<Rights> {
    if (known && now() < known.until) return known.caller;
    const caller = rightsOf(await refusing(() => client.users.me({}, { signal })));
    known = { caller, until: now() + callerMs };
    return caller;
  }

  return {
    caller: readCaller,
    call,
    async *watch(taskId, afterSeq, signal) {
      try {
        for await (const event of client.tasks.watch(taskId, { afterSeq, untilSettled: true, deltas: true, signal })) {
          const watched: Watched = event.type === "text_delta" ? { delta: event.delta } : { event: { ...event } };
          yield watched;
        }
      } catch (thrown) {
        throw refusalOf(thrown);
      }
    },
    async listFiles({ limit, cursor, task_id: taskId }, signal) {
      const request = {
        ...(limit === undefined ? {} : { limit: Number(limit) }),
        ...textOf("cursor", cursor),
        ...textOf("taskId", taskId),
      };
      const page = await refusing(() => client.rpc("file.v2.FileService/ListFiles", request, { signal }));
      return filePage(page as ListedFiles); // By the schema of the answer.
    },
    async readSkill(id, signal) {
      const { text = "" } = await refusing(() => client.rpc("settings.v1.SkillService/GetSkillContent", { id }, { signal }));
      return text;
    },
    upload: async (filename, bytes, signal) => (await refusing(() => client.files.upload(bytes, { filename, signal }))) as FileDetail,
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

/** The list of files in protobuf's JSON. */
interface ListedFiles {
  readonly data?: readonly {
    readonly id?: string;
    readonly filename?: string;
    readonly status?: string;
    readonly bytes?: string;
    readonly contentType?: string;
    readonly downloadUrl?: string;
  }[];
  readonly hasMore?: boolean;
  readonly nextCursor?: string;
}

const filePage = ({ data = [], hasMore = false, nextCursor }: ListedFiles): FilePage => ({
  data: data.map(({ id = "", filename = "", status = "", bytes, contentType, downloadUrl }) => ({
    ...{ id, filename, status: status.replace("FILE_STATUS_", "").toLowerCase() },
    ...(bytes === undefined ? {} : { bytes: Number(bytes) }),
    ...textOf("content_type", contentType),
    ...textOf("download_url", downloadUrl),
  })),
  has_more: hasMore,
  ...textOf("next_cursor", nextCursor),
});

/** A member, unless its text is absent or empty. */
const textOf = <Name extends string>(name: Name, text: unknown): Partial<Record<Name, string>> =>
  text === undefined || text === "" ? {} : ({ [name]: String(text) } as Record<Name, string>);

/** A member that has no effect is refused, as over HTTP. */
const strict = (signal: AbortSignal): CallOptions => ({ signal, headers: { prefer: "handling=strict" } });

async function refusing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw refusalOf(thrown);
  }
}

const refusalOf = (thrown: unknown): unknown =>
  thrown instanceof ApiError ? new Refusal(thrown.code, thrown.message, { field: thrown.param, retryAfter: thrown.retryAfter }) : thrown;
