import { ApiError, type CallOptions, type Client, type OperationName, type RequestOf } from "../../../packages/client/src/index.ts";
import { Failure } from "../../core/failure.ts";
import { v2Answers } from "../../http/failure.ts";
import { type FilePage, type Operations, Refusal, type Watched } from "./operations.ts";

/** The operations of a client, over HTTP or in this process. */
export function operationsOver(client: Client): Pick<Operations, "call" | "watch" | "listFiles" | "readSkill"> {
  return {
    async call(name, input, signal, idempotencyKey) {
      // The protocols name operations of v2, and each reader of requests checks them.
      const { request_id, ...answer } = await refusals(() =>
        client.call(name as OperationName, input as RequestOf<OperationName>, { ...strict(signal), idempotencyKey }),
      );
      return answer;
    },
    async *watch(taskId, afterSeq, signal) {
      try {
        for await (const event of client.tasks.watch(taskId, { afterSeq, untilSettled: true, deltas: true, signal })) {
          const watched: Watched = event.type === "text_delta" ? { delta: event.delta, text: event.text } : { event: { ...event } };
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
      const page = await refusals(() => client.rpc("file.v2.FileService/ListFiles", request, { signal }));
      return filePage(page as ListedFiles); // By the schema of the answer.
    },
    async readSkill(id, signal) {
      const { text = "" } = await refusals(() => client.rpc("settings.v1.SkillService/GetSkillContent", { id }, { signal }));
      return text;
    },
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

/** Runs calls whose errors are refusals. */
export async function refusals<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (thrown) {
    throw refusalOf(thrown);
  }
}

/** An error of the client, or a failure of this process, as a refusal with the code of v2; other errors as they are. */
export function refusalOf(thrown: unknown): unknown {
  if (thrown instanceof ApiError) return new Refusal(thrown.code, thrown.message, { field: thrown.param, retryAfter: thrown.retryAfter });
  if (!(thrown instanceof Failure)) return thrown;
  const { reason, message, path, retryAfter } = thrown;
  return new Refusal(v2Answers[reason].code, message, { field: path, retryAfter });
}
