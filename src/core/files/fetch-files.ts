import { Readable } from "node:stream";
import type { Caller, OnBehalf } from "../accounts/caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalidArgument } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Blobs } from "./blob.ts";
import { type Attachment, attachmentOf, fileAt, type StoredFile } from "./file.ts";
import { checkFilename, contentTypeOf, nameFor, tidyFilename } from "./filename.ts";
import { senderDisconnected } from "./meter.ts";
import { type DataUri, type FilePart, partMax } from "./part.ts";
import type { FileName, Staging } from "./staging.ts";

export interface FetchedFile {
  readonly bytes: Readable;
  /** The server's media type, without parameters; null if it sends none. */
  readonly contentType: string | null;
  /** The name from the server or from the last part of the URL; null if neither has one. It is unchecked. */
  readonly filename: string | null;
  /** The address that answered, after all redirects. */
  readonly url: string;
}

export interface FetchBound extends OnBehalf {
  /** The most bytes. */
  readonly max: number;
  /**
   * Called before each request with its address, and with the one that redirected to it. What it throws ends
   * the fetch.
   */
  readonly check?: (url: URL, from: URL | null) => Promise<void>;
}

/**
 * Fetches a file from an untrusted URL: public addresses only, over http and https (spec/decisions.md 39). It
 * checks every resolved address, again after each redirect.
 *
 * @throws Failure `invalid_argument` with the path `file_url` and the reason: a refused address, an unknown
 * name, an answer other than 200, a timeout. Reading more than `max` bytes fails the same way. For an address
 * that is not public the text says only that.
 */
export type FetchFile = (url: string, bound: FetchBound) => Promise<FetchedFile>;

/** The bytes of a voice part, in the storage. */
export interface Recording {
  /** The path of the part: `message.content[2]`. */
  readonly path: string;
  readonly filename: string;
  readonly bytes: number;
  readonly read: () => Promise<Readable>;
}

/** The files of a message, fetched and decoded. */
export interface FetchedFiles {
  /** The voice parts, in order. */
  readonly recordings: readonly Recording[];
  /** Creates the attachments of the message, in the change that writes it: all of them, or none. */
  readonly keep: (tx: Tx, caller: Caller) => Promise<readonly Attachment[]>;
}

/**
 * Fetches and decodes the files of a message's parts, before any change.
 *
 * @param signal aborted when the caller no longer waits.
 * @throws Failure `invalid_argument` with the path of a file that cannot be decoded or fetched, or is over 20
 * MB; `resource_exhausted` beyond the quota; `cancelled` when the caller no longer waits.
 */
export type FetchFiles = (
  caller: Caller,
  parts: readonly FilePart[],
  signal: AbortSignal,
) => Promise<FetchedFiles>;

export interface FetchFilesParts {
  readonly staging: Staging;
  readonly fetchFile: FetchFile;
  readonly clock: Clock;
  /** The uploaded files, outside of a change. */
  readonly store: Pick<Tx, "files">;
  readonly blobs: Pick<Blobs, "read">;
}

interface KeepOne {
  /** Its bytes, for a voice part. */
  readonly content: () => Promise<{ blobId: string; bytes: number; filename: string }>;
  keep(tx: Tx, caller: Caller): Promise<StoredFile>;
  discard(): Promise<void>;
}

interface IncomingFile {
  readonly bytes: Readable;
  readonly name: FileName;
}

export function fetchFilesWith({ staging, fetchFile, clock, store, blobs }: FetchFilesParts): FetchFiles {
  /** Finds a file that the caller uploaded. An artifact of a task is refused. */
  async function requireUploaded(
    tx: Pick<Tx, "files">,
    caller: Caller,
    path: string,
    fileId: string,
  ): Promise<StoredFile> {
    const row = await tx.files.find(caller, fileId);
    if (!row) throw invalidArgument(path, "is unknown");
    const file = fileAt(row, clock.now());
    if (file.status === "pending") throw invalidArgument(path, "is not uploaded yet");
    if (file.status !== "uploaded") throw invalidArgument(path, "is deleted, or was never uploaded");
    return file;
  }

  async function stage(
    { accountId }: Caller,
    path: string,
    { bytes, name }: IncomingFile,
    signal: AbortSignal,
  ): Promise<KeepOne> {
    try {
      const staged = await staging.stage(bytes, { accountId, max: partMax, signal });
      return {
        content: async () => ({ blobId: staged.blobId, bytes: staged.bytes, filename: name.filename }),
        keep: (tx, keeper) => staging.keep(tx, keeper, staged, name),
        discard: () => staging.discard(staged),
      };
    } catch (thrown) {
      throw withPartPath(path, bytes.errored ?? thrown);
    }
  }

  function prepareUploaded(caller: Caller, path: string, fileId: string): KeepOne {
    const find = (tx: Pick<Tx, "files">, by: Caller) => requireUploaded(tx, by, `${path}.file_id`, fileId);
    return {
      async content() {
        const { blobId, bytes, filename } = await find(store, caller);
        return { blobId: blobId ?? "", bytes: bytes ?? 0, filename };
      },
      keep: find,
      discard: async () => undefined,
    };
  }

  async function recordingOf({ path }: FilePart, { content }: KeepOne): Promise<Recording> {
    const { blobId, bytes, filename } = await content();
    return { path, filename, bytes, read: () => blobs.read(blobId) };
  }

  async function preparePart(caller: Caller, part: FilePart, signal: AbortSignal): Promise<KeepOne> {
    const { path, source } = part;
    switch (source.kind) {
      case "id":
        return prepareUploaded(caller, path, source.fileId);
      case "url":
        return stage(
          caller,
          path,
          await fetchPart(fetchFile, part, source.url, { accountId: caller.accountId, signal }),
          signal,
        );
      case "data":
        return stage(caller, path, decodePart(part, source.uri), signal);
    }
  }

  return async (caller, parts, signal) => {
    const keeping: KeepOne[] = [];
    const recordings: Recording[] = [];
    // Sequentially: a message of many parts uses no more memory than its largest part.
    try {
      for (const part of parts) {
        if (signal.aborted) throw senderDisconnected();
        const one = await preparePart(caller, part, signal);
        keeping.push(one);
        if (part.isVoice) recordings.push(await recordingOf(part, one));
      }
    } catch (thrown) {
      await Promise.all(keeping.map(({ discard }) => discard()));
      throw thrown;
    }
    return {
      recordings,
      async keep(tx, keeper) {
        const attachments: Attachment[] = [];
        for (const [i, { keep }] of keeping.entries()) {
          attachments.push(attachmentOf(await keep(tx, keeper), parts[i]?.isVoice ? "voice" : "user"));
        }
        return attachments;
      },
    };
  };
}

/**
 * The values of the part take precedence over those of the server, and those over the type of the name's
 * extension.
 */
async function fetchPart(
  fetchFile: FetchFile,
  part: FilePart,
  url: string,
  by: OnBehalf,
): Promise<IncomingFile> {
  const { path } = part;
  const answer = await fetchFile(url, { max: partMax, ...by }).catch((thrown: unknown) => {
    throw withPartPath(path, thrown);
  });
  try {
    return { bytes: answer.bytes, name: nameOf(part, answer) };
  } catch (thrown) {
    answer.bytes.destroy();
    throw thrown;
  }
}

function nameOf({ path, ...part }: FilePart, answer: FetchedFile): FileName {
  const filename = part.filename ?? (answer.filename === null ? undefined : tidyFilename(answer.filename));
  const contentType = part.contentType ?? contentTypeOf(filename ?? "", answer.contentType);
  return { filename: checkFilename(filename ?? nameFor(contentType), `${path}.file_url`), contentType };
}

function decodePart({ path, filename, ...part }: FilePart, uri: DataUri): IncomingFile {
  const contentType = part.contentType ?? contentTypeOf(filename ?? "", uri.contentType);
  const name = {
    filename: filename ?? checkFilename(nameFor(contentType), `${path}.mime_type`),
    contentType,
  };
  const bytes = Readable.from(
    uri.decode(() =>
      invalidArgument(`${path}.file_data`, "must be base64, with its padding and without line breaks"),
    ),
  );
  return { bytes, name };
}

/** Adds the path of the part to a failure: those of `file_url` and of sizes do not have it. */
function withPartPath(path: string, thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.message.startsWith(path)) return thrown;
  if (thrown.reason === "too_large") return invalidArgument(path, "is over 20 MB");
  return thrown.path === undefined
    ? thrown
    : new Failure(thrown.reason, `${path}.${thrown.message}`, {
        cause: thrown.cause,
        path: `${path}.${thrown.path}`,
      });
}
