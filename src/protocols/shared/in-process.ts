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
import type { RecordedClient } from "./caller-client.ts";
import { type CallParts, callsOf } from "./calls.ts";
import { inProcessTransport } from "./transport.ts";

/** The parts of the call path that protocols use. */
export interface InProcessParts extends CallParts {
  readonly uploads: Uploads;
  readonly blobs: Blobs;
  readonly store: Pick<Tx, "files">;
  readonly clock: Clock;
}

/**
 * The operation as which the head of a request at `path` is admitted: user.me for keys and access tokens,
 * with a separate limit. The calls of the request follow.
 */
export function entranceOf(operations: OperationTable, countedAs: string, path: string): Operation {
  const me = operations.byName("user.me");
  if (!me?.access) throw new Error("user.me is not an operation");
  const credentials = new Set([Access_Credential.API_KEY, Access_Credential.OAUTH]);
  return {
    ...me,
    access: { ...me.access, credentials },
    rateClass: "report",
    countedAs,
    countedWith: [path],
  };
}

/** Clients of the operations of this process for one request. The calls of each end with its signal. */
export function inProcessClients(
  parts: InProcessParts,
  request: Request,
  caller: Caller,
): (ended: AbortSignal) => RecordedClient {
  const calls = callsOf(parts, request);
  const { uploads, blobs, store, clock } = parts;
  return (signal) => {
    const client = clientOver(inProcessTransport(calls, signal));
    return {
      ...client,
      rights: async () => caller,
      wasMade: (operation, input, idempotencyKey) =>
        calls.wasMade({ operation, form: "v2", input }, idempotencyKey),
      files: {
        ...client.files,
        async upload(bytes, { filename = "" } = {}) {
          if (!(bytes instanceof Uint8Array)) throw new TypeError("uploads in the process take bytes");
          const { file, upload_expires_at: uploadExpiresAt } = await client.call("file.upload", { filename });
          const incoming = {
            bytes: Readable.from([bytes]),
            length: bytes.length,
            signal,
            digests: [],
            isComplete: () => true,
          };
          await calls.run("file.upload", () =>
            uploads.receive(file.id, Number(uploadExpiresAt) * 1000, incoming),
          );
          return (await client.files.detail({ file_id: file.id })).file;
        },
      },
      bytesOf: ({ id }, most) =>
        calls.run("file.detail", async () => {
          const stored = await store.files.byId(id);
          const file = stored && fileAt(stored, clock.now());
          if (file?.status !== "uploaded" || file.blobId === null || file.bytes === null)
            throw notFound("file");
          if (file.bytes === 0) return new Uint8Array();
          return buffer(await blobs.read(file.blobId, { start: 0, end: Math.min(file.bytes, most) - 1 }));
        }),
    };
  };
}
