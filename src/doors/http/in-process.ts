import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import type { DescMethod, JsonObject, Message } from "@bufbuild/protobuf";
import type { Request } from "../../call/admission.ts";
import type { Admit } from "../../call/admit.ts";
import type { Performer } from "../../call/perform.ts";
import type { Caller } from "../../core/accounts/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { type Failure, failureOf, notFound } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blob.ts";
import { fileAt } from "../../core/files/file.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import type { Tx } from "../../core/store.ts";
import { FileService } from "../../gen/proto/file/v2/file_service_pb.ts";
import { SkillService } from "../../gen/proto/settings/v1/skill_service_pb.ts";
import { TaskEventSchema } from "../../gen/proto/task/v2/task_event_pb.ts";
import { TaskService, TextDeltaSchema, type WatchTaskResponse } from "../../gen/proto/task/v2/task_service_pb.ts";
import { Access_Credential } from "../../gen/proto/taskplatform/options/v1/options_pb.ts";
import { v2Answers } from "../../http/failure.ts";
import { compileReader } from "../../http/v2/message-reader.ts";
import { compileBareWriter, compileWriter } from "../../http/v2/writer.ts";
import { Warnings } from "../../http/warnings/warnings.ts";
import { type Operation, type OperationTable, rpcName } from "../../operations.ts";
import { type FileDetail, type FilePage, type Json, type RecordedOperations, Refusal, type Watched } from "../operations.ts";

/** The parts of the call path that tools use. */
export interface InProcessParts {
  readonly operations: OperationTable;
  readonly admit: Admit;
  readonly performer: Performer;
  readonly uploads: Uploads;
  readonly blobs: Blobs;
  readonly store: Pick<Tx, "files">;
  readonly clock: Clock;
  readonly report: (failure: Failure, requestId: string) => void;
}

/**
 * The operation as which the head of a request at `path` is admitted: user.me for keys and access tokens, with a separate limit.
 * The calls of the request follow.
 */
export function entranceOf(operations: OperationTable, countedAs: string, path: string): Operation {
  const me = operations.byName("user.me");
  if (!me?.access) throw new Error("user.me is not an operation");
  const credentials = new Set([Access_Credential.API_KEY, Access_Credential.OAUTH]);
  return { ...me, access: { ...me.access, credentials }, rateClass: "report", countedAs, countedWith: [path] };
}

/** The operations for one request: each is admitted and performed as on every other wire, with its limit and its audit row. */
export function inProcessOperations(parts: InProcessParts, { body: _, ...head }: Request, caller: Caller): RecordedOperations {
  const { performer, uploads, blobs, store, clock, report } = parts;
  let observed = head.observed;

  function methodNamed(name: string): DescMethod {
    const method = parts.operations.byName(name)?.method;
    if (!method) throw new Error(`${name} is not an operation`);
    return method;
  }

  async function admitted(method: DescMethod, input: Json, idempotencyKey: string | null = null) {
    const operation = parts.operations.byRpc(rpcName(method));
    if (!operation) throw new Error(`${rpcName(method)} is not an operation`);
    const { read } = formsOf(operation);
    // The call counts as its first operation.
    const request: Request = { ...head, idempotencyKey, ...(observed ? { observed } : {}) };
    observed = undefined;
    const admission = await parts.admit(operation, request);
    const warnings = new Warnings();
    const message = read(input as JsonObject, "body", warnings); // It was parsed from JSON.
    warnings.refuse();
    return { operation, admission, message };
  }

  async function perform(method: DescMethod, input: Json, signal: AbortSignal, idempotencyKey?: string): Promise<Json> {
    return refusing(async () => {
      const { operation, admission, message } = await admitted(method, input, idempotencyKey);
      const { answer } = await performer.perform(admission, message, signal);
      const { ok, request_id, ...members } = JSON.parse(formsOf(operation).write(answer, head.requestId)) as Json;
      return members;
    });
  }

  async function refusing<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const failure = failureOf(thrown);
      report(failure, head.requestId);
      throw refusalOf(failure);
    }
  }

  return {
    caller: async () => caller,
    call: async (name, input, signal, idempotencyKey) => perform(methodNamed(name), input, signal, idempotencyKey),
    wasMade: (name, input, _signal, idempotencyKey) =>
      refusing(async () => {
        const { admission, message } = await admitted(methodNamed(name), input, idempotencyKey);
        return (await performer.recorded(admission, message)) !== null;
      }),
    async *watch(taskId, afterSeq, signal) {
      const input = { task_id: taskId, after_seq: afterSeq, until_settled: true, deltas: true };
      const answers = await refusing(async () => {
        const { admission, message } = await admitted(TaskService.method.watchTask, input);
        return performer.stream(admission, message, signal);
      });
      try {
        // The schema of the answers.
        for await (const answer of (answers ?? []) as AsyncIterable<WatchTaskResponse>) yield* watchedIn(answer);
      } catch (thrown) {
        throw refusalOf(failureOf(thrown));
      }
    },
    listFiles: async (input, signal) => (await perform(FileService.method.listFiles, input, signal)) as Json & FilePage,
    async readSkill(id, signal) {
      const { text } = await perform(SkillService.method.getSkillContent, { id }, signal);
      return String(text);
    },
    async upload(filename, bytes, signal) {
      const { file, upload_expires_at: until } = await perform(FileService.method.uploadFile, { filename }, signal);
      const { id } = file as FileDetail;
      const incoming = { bytes: Readable.from([bytes]), length: bytes.length, signal, digests: [], isComplete: () => true };
      await refusing(() => uploads.receive(id, Number(until) * 1000, incoming));
      return (await perform(FileService.method.getFile, { file_id: id }, signal))["file"] as FileDetail;
    },
    download: ({ id }, most) =>
      refusing(async () => {
        const stored = await store.files.byId(id);
        const file = stored && fileAt(stored, clock.now());
        if (file?.status !== "uploaded" || file.blobId === null || file.bytes === null) throw notFound("file");
        if (file.bytes === 0) return new Uint8Array();
        return buffer(await blobs.read(file.blobId, { start: 0, end: Math.min(file.bytes, most) - 1 }));
      }),
  };
}

/** A failure as a refusal, with the code of v2. */
export const refusalOf = ({ reason, message, path, retryAfter }: Failure): Refusal =>
  new Refusal(v2Answers[reason].code, message, { field: path, retryAfter });

const writeEvent = compileBareWriter(TaskEventSchema);
const writeDelta = compileBareWriter(TextDeltaSchema);

/** What an answer of a watch has: an event, a part of a text, or nothing. */
function* watchedIn({ event, delta }: WatchTaskResponse): Generator<Watched> {
  if (event) yield { event: JSON.parse(writeEvent(event)) };
  if (delta) yield { delta: JSON.parse(writeDelta(delta)) };
}

/** The reader and the writer of an operation's messages in v2's JSON, compiled at the first use. */
interface Forms {
  readonly read: (json: JsonObject, mode: "body", warnings: Warnings) => Message;
  readonly write: (answer: Message, requestId: string) => string;
}
const compiled = new WeakMap<Operation, Forms>();

function formsOf(operation: Operation): Forms {
  const known = compiled.get(operation);
  if (known) return known;
  const { input, output } = operation.method;
  const forms = { read: compileReader(input), write: compileWriter(output) };
  compiled.set(operation, forms);
  return forms;
}
