import { join } from "node:path";
import { createLocalBlobs } from "../adapters/storage/local.ts";
import type { Bucket } from "../config/bucket.ts";
import type { Config } from "../config/config.ts";
import type { Blobs } from "../core/files/blob.ts";
import type { Log } from "../core/log.ts";

/** The storage for the bytes of files: the configured bucket, or else the data folder. */
export function openBlobs({ bucket, database, dataDir, isDataDirShared }: Config, log: Log): Blobs {
  if (bucket !== null) return bucketBlobs(bucket);
  // Another process could not read them (spec/decisions.md 22).
  if (database === "postgresql" && !isDataDirShared)
    log("warn", "S3_BUCKET is not set: files are kept on this machine, where other processes cannot read them");
  return createLocalBlobs(join(dataDir, "files"));
}

/** The modules for S3 are loaded only if a bucket is configured. */
function bucketBlobs(bucket: Bucket): Blobs {
  const loaded = import("../adapters/storage/s3.ts").then(({ createS3Blobs }) => createS3Blobs(bucket));
  return {
    put: async (...call) => (await loaded).put(...call),
    read: async (...call) => (await loaded).read(...call),
    remove: async (...call) => (await loaded).remove(...call),
    address: async (...call) => (await loaded).address(...call),
  };
}
