import { Readable } from "node:stream";
import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalid } from "../failure.ts";
import type { OnBehalf } from "../on-behalf.ts";
import type { Tx } from "../store.ts";
import { type Attachment, attachmentOf } from "./attachment.ts";
import type { DataUri } from "./data-uri.ts";
import type { FetchedFile, FetchFile } from "./fetch.ts";
import { asOf, type StoredFile } from "./file.ts";
import { checkFilename, contentTypeOf, tidyFilename } from "./filename.ts";
import { nameFor } from "./media-type.ts";
import { cutOff } from "./meter.ts";
import { type FilePart, partMax } from "./part.ts";
import type { FileName, Staging } from "./staging.ts";

/** Makes the attachments of a message, in the change that writes it: all of them, or none. */
export type KeepBrought = (tx: Tx, caller: Caller) => Promise<readonly Attachment[]>;

/**
 * Fetches and decodes what parts of a message bring, before any change.
 *
 * @param signal aborted when nobody waits any more.
 * @throws Failure `invalid` with the path of what cannot be decoded or fetched, or is over 20 MB; `exhausted` beyond the
 * quota; `cancelled` once nobody waits.
 */
export type BringFiles = (caller: Caller, parts: readonly FilePart[], signal: AbortSignal) => Promise<KeepBrought>;

/** What bringing files needs. */
export interface BringParts {
  readonly staging: Staging;
  readonly fetchFile: FetchFile;
  readonly clock: Clock;
}

/** One part's file, and how to give up what is staged for it. */
interface KeepOne {
  keep(tx: Tx, caller: Caller): Promise<StoredFile>;
  discard(): Promise<void>;
}

/** Bytes on their way, and what they are called. */
interface Coming {
  readonly bytes: Readable;
  readonly name: FileName;
}

export function bringFiles({ staging, fetchFile, clock }: BringParts): BringFiles {
  /** What the caller has uploaded before; an artefact of a task is no such file. */
  async function uploaded(tx: Tx, caller: Caller, path: string, fileId: string): Promise<StoredFile> {
    const found = await tx.files.find(caller, fileId);
    if (!found) throw invalid(path, "is unknown");
    const file = asOf(found, clock.now());
    if (file.status === "pending") throw invalid(path, "is not uploaded yet");
    if (file.status !== "uploaded") throw invalid(path, "is deleted, or was never uploaded");
    return file;
  }

  async function stage({ accountId }: Caller, path: string, { bytes, name }: Coming, signal: AbortSignal): Promise<KeepOne> {
    try {
      const staged = await staging.stage(bytes, { accountId, max: partMax, signal });
      return { keep: (tx, keeper) => staging.keep(tx, keeper, staged, name), discard: () => staging.discard(staged) };
    } catch (thrown) {
      throw refusalOf(path, bytes.errored ?? thrown);
    }
  }

  async function bring(caller: Caller, part: FilePart, signal: AbortSignal): Promise<KeepOne> {
    const { path, source } = part;
    switch (source.kind) {
      case "id":
        return { keep: (tx, keeper) => uploaded(tx, keeper, `${path}.file_id`, source.fileId), discard: async () => undefined };
      case "url":
        return stage(caller, path, await fetched(fetchFile, part, source.url, { accountId: caller.accountId, signal }), signal);
      case "data":
        return stage(caller, path, decoded(part, source.uri), signal);
    }
  }

  return async (caller, parts, signal) => {
    const keeping: KeepOne[] = [];
    // One after the other: a message of many parts takes no more room than its largest.
    try {
      for (const part of parts) {
        if (signal.aborted) throw cutOff();
        keeping.push(await bring(caller, part, signal));
      }
    } catch (thrown) {
      await Promise.all(keeping.map(({ discard }) => discard()));
      throw thrown;
    }
    return async (tx, keeper) => {
      const attachments: Attachment[] = [];
      for (const [i, { keep }] of keeping.entries()) {
        attachments.push(attachmentOf(await keep(tx, keeper), parts[i]?.spoken ? "voice" : "user"));
      }
      return attachments;
    };
  };
}

/** What the part itself says goes before what the server says, and that before what the name says. */
async function fetched(fetchFile: FetchFile, part: FilePart, url: string, by: OnBehalf): Promise<Coming> {
  const { path } = part;
  const answer = await fetchFile(url, { max: partMax, ...by }).catch((thrown: unknown) => {
    throw refusalOf(path, thrown);
  });
  try {
    return { bytes: answer.bytes, name: nameOf(part, answer) };
  } catch (thrown) {
    answer.bytes.destroy();
    throw thrown;
  }
}

function nameOf({ path, ...part }: FilePart, answer: FetchedFile): FileName {
  const given = part.filename ?? (answer.filename === null ? undefined : tidyFilename(answer.filename));
  const contentType = part.contentType ?? contentTypeOf(given ?? "", answer.contentType);
  return { filename: checkFilename(given ?? nameFor(contentType), `${path}.file_url`), contentType };
}

function decoded({ path, filename, ...part }: FilePart, uri: DataUri): Coming {
  const contentType = part.contentType ?? contentTypeOf(filename ?? "", uri.contentType);
  const name = { filename: filename ?? checkFilename(nameFor(contentType), `${path}.mime_type`), contentType };
  const bytes = Readable.from(uri.decode(() => invalid(`${path}.file_data`, "must be base64, with its padding and without line breaks")));
  return { bytes, name };
}

/** A refusal of `file_url` does not know which part it stands in; nor does one of a size. */
function refusalOf(path: string, thrown: unknown): unknown {
  if (!(thrown instanceof Failure) || thrown.message.startsWith(path)) return thrown;
  if (thrown.reason === "too_large") return invalid(path, "is over 20 MB");
  return thrown.path === undefined
    ? thrown
    : new Failure(thrown.reason, `${path}.${thrown.message}`, { cause: thrown.cause, path: `${path}.${thrown.path}` });
}
