import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { clientOver } from "../../../packages/client/src/index.ts";
import type { Caller } from "../../core/accounts/caller.ts";
import type { Clock } from "../../core/clock.ts";
import { notFound } from "../../core/failure.ts";
import type { Blobs } from "../../core/files/blob.ts";
import { fileAt } from "../../core/files/file.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import type { Tx } from "../../core/store.ts";
import { Access_Credential } from "../../gen/proto/taskplatform/options/v1/options_pb.ts";
import type { Request } from "../../pipeline/admission.ts";
import type { Operation, OperationTable } from "../../pipeline/operations.ts";
import { type CallParts, callsOf } from "./calls.ts";
import type { FileDetail, RecordedOperations } from "./operations.ts";
import { operationsOver, refusals } from "./operations-over.ts";
import { inProcessTransport } from "./transport.ts";

/** The parts of the call path that tools use. */
export interface InProcessParts extends CallParts {
  readonly uploads: Uploads;
  readonly blobs: Blobs;
  readonly store: Pick<Tx, "files">;
  readonly clock: Clock;
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

/** What a protocol reads and writes: the operations over a client, and what only this process knows. */
export function inProcessOperations(parts: InProcessParts, request: Request, caller: Caller): RecordedOperations {
  const calls = callsOf(parts, request);
  const client = clientOver(inProcessTransport(calls));
  const { uploads, blobs, store, clock } = parts;
  return {
    ...operationsOver(client),
    caller: async () => caller,
    wasMade: (name, input, _signal, idempotencyKey) =>
      refusals(async () => calls.wasMade({ operation: name, form: "v2", input }, idempotencyKey)),
    upload: (filename, bytes, signal) =>
      refusals(async () => {
        const { file, upload_expires_at: until } = await client.call("file.upload", { filename }, { signal });
        const incoming = { bytes: Readable.from([bytes]), length: bytes.length, signal, digests: [], isComplete: () => true };
        await calls.run("file.upload", () => uploads.receive(file.id, Number(until) * 1000, incoming));
        return (await client.call("file.detail", { file_id: file.id }, { signal })).file as FileDetail; // An uploaded file has its size.
      }),
    download: ({ id }, most) =>
      refusals(() =>
        calls.run("file.detail", async () => {
          const stored = await store.files.byId(id);
          const file = stored && fileAt(stored, clock.now());
          if (file?.status !== "uploaded" || file.blobId === null || file.bytes === null) throw notFound("file");
          if (file.bytes === 0) return new Uint8Array();
          return buffer(await blobs.read(file.blobId, { start: 0, end: Math.min(file.bytes, most) - 1 }));
        }),
      ),
  };
}
