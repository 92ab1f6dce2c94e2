import { join } from "node:path";
import type { Bucket } from "../config/bucket.ts";
import type { Config } from "../config.ts";
import type { Blobs } from "../core/files/blobs.ts";
import type { Log } from "../core/log.ts";
import { localBlobs } from "../storage/local.ts";

/** Where the bytes of files are kept: the bucket that is configured, or else the data folder. */
export function blobsOf({ bucket, database, dataDir, isDataDirShared }: Config, log: Log): Blobs {
  if (bucket !== null) return bucketBlobs(bucket);
  // Another process would not find them (contract/decisions.md 22).
  if (database === "postgresql" && !isDataDirShared)
    log("warn", "S3_BUCKET is not set: files are kept on this machine, where other processes cannot read them");
  return localBlobs(join(dataDir, "files"));
}

/** The modules for S3 are loaded only where they are wanted. */
function bucketBlobs(bucket: Bucket): Blobs {
  const loaded = import("../storage/s3.ts").then(({ s3Blobs }) => s3Blobs(bucket));
  return {
    put: async (...call) => (await loaded).put(...call),
    read: async (...call) => (await loaded).read(...call),
    remove: async (...call) => (await loaded).remove(...call),
    address: async (...call) => (await loaded).address(...call),
  };
}
