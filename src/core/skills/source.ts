import type { Caller } from "../caller.ts";
import type { Clock } from "../clock.ts";
import { absent, invalid } from "../failure.ts";
import type { Blobs } from "../files/blobs.ts";
import { asOf } from "../files/file.ts";
import type { Tx } from "../store.ts";
import { archiveBytesMax } from "./unzip.ts";

/** Where the ZIP of a new skill is; the kinds are the fields' names. */
export type SkillSource =
  | { readonly kind: "archive"; readonly bytes: Uint8Array }
  /** What was uploaded as a file. */
  | { readonly kind: "file_id"; readonly fileId: string };

/** Reads the bytes of a file that the caller has uploaded. @throws Failure `absent`, or `invalid` when it is too large. */
export async function readUploaded(
  { store, blobs, clock }: { readonly store: Tx; readonly blobs: Pick<Blobs, "read">; readonly clock: Pick<Clock, "now"> },
  caller: Caller,
  fileId: string,
): Promise<Uint8Array> {
  const found = await store.files.find(caller, fileId);
  const file = found && asOf(found, clock.now());
  if (file?.status !== "uploaded" || file.blobId === null) throw absent("file", "file_id");
  if ((file.bytes ?? 0) > archiveBytesMax) throw invalid("file_id", "a ZIP of a skill has at most 50 MB");
  return Buffer.concat(await Array.fromAsync(await blobs.read(file.blobId)));
}
