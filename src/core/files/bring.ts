import { Readable } from "node:stream";
import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { Failure, invalid } from "../failure.ts";
import type { Tx } from "../store.ts";
import { type Attachment, attachmentOf } from "./attachment.ts";
import type { FetchFile } from "./fetch.ts";
import { asOf, type StoredFile } from "./file.ts";
import { nameFor, typeOfName } from "./media-type.ts";
import { type FilePart, partMax } from "./part.ts";
import { checkName } from "./part-name.ts";
import type { FileName, Staging } from "./staging.ts";

/** Makes the attachments of a message, in the change that writes it: all of them, or none. */
export type KeepBrought = (tx: Tx, caller: Caller) => Promise<readonly Attachment[]>;

/**
 * Fetches and decodes what parts of a message bring, before any change.
 *
 * @param signal aborted when nobody waits any more.
 * @throws Failure `invalid` with the path of what cannot be decoded or fetched, or is over 20 MB; `exhausted` beyond the quota.
 */
export type BringFiles = (caller: Caller, parts: readonly FilePart[], signal: AbortSignal) => Promise<KeepBrought>;

/** What bringing files needs. */
export interface BringParts {
  readonly staging: Staging;
  readonly fetchFile: FetchFile;
  readonly clock: Clock;
}

type KeepOne = (tx: Tx, caller: Caller) => Promise<StoredFile>;

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

  async function fetched({ path, filename, contentType }: FilePart, url: string, signal: AbortSignal): Promise<Coming> {
    const answer = await fetchFile(url, { max: partMax, signal });
    const name = filename ?? (answer.filename ? checkName(path, answer.filename) : undefined);
    const type = contentType ?? answer.contentType ?? (name === undefined ? undefined : typeOfName(name));
    return { bytes: answer.bytes, name: { filename: name ?? nameFor(type ?? ""), contentType: type ?? typeOfName("") } };
  }

  async function stage(caller: Caller, path: string, coming: () => Promise<Coming>, signal: AbortSignal): Promise<KeepOne> {
    try {
      const { bytes, name } = await coming();
      const staged = await staging.stage(bytes, { accountId: caller.accountId, max: partMax, signal });
      return (tx, keeper) => staging.keep(tx, keeper, staged, name);
    } catch (thrown) {
      throw placed(path, thrown);
    }
  }

  async function bring(caller: Caller, part: FilePart, signal: AbortSignal): Promise<KeepOne> {
    const { path, source } = part;
    switch (source.kind) {
      case "id":
        return (tx, keeper) => uploaded(tx, keeper, `${path}.file_id`, source.fileId);
      case "url":
        return stage(caller, `${path}.file_url`, () => fetched(part, source.url, signal), signal);
      case "data":
        return stage(caller, `${path}.file_data`, async () => decoded(part), signal);
    }
  }

  return async (caller, parts, signal) => {
    const kept: (readonly [FilePart, KeepOne])[] = [];
    // One after the other: a message of many parts takes no more room than its largest.
    for (const part of parts) kept.push([part, await bring(caller, part, signal)]);
    return async (tx, keeper) => {
      const attachments: Attachment[] = [];
      for (const [{ spoken }, keep] of kept) attachments.push(attachmentOf(await keep(tx, keeper), spoken ? "voice" : "user"));
      return attachments;
    };
  };
}
