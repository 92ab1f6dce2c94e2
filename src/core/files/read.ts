import type { Clock } from "../clock.ts";
import { absent } from "../failure.ts";
import type { Tx } from "../store.ts";
import type { Blobs } from "./blobs.ts";
import { asOf } from "./file.ts";

/** Reads a file that a task knows of, for its agent. @throws Failure `absent` when it is deleted or expired. */
export type ReadFile = (fileId: string) => AsyncIterable<Uint8Array>;

export const fileReader = (store: Pick<Tx, "files">, blobs: Pick<Blobs, "read">, clock: Clock): ReadFile =>
  async function* (fileId) {
    const found = await store.files.byId(fileId);
    const file = found && asOf(found, clock.now());
    if (file?.status !== "uploaded" || file.blobId === null) throw absent("file");
    yield* await blobs.read(file.blobId);
  };
