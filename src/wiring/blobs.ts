import { join } from "node:path";
import type { Config } from "../config.ts";
import type { Blobs } from "../core/files/blobs.ts";
import { localBlobs } from "../storage/local.ts";

/** Where the bytes of files are kept. */
export const blobsOf = ({ dataDir }: Config): Blobs => localBlobs(join(dataDir, "files"));
