import { join } from "node:path";
import { createLocalBlobs } from "../adapters/storage/local.ts";
import type { Bucket } from "../config/bucket.ts";
import type { Config } from "../config/config.ts";
import type { Blobs } from "../core/files/blob.ts";
import type { Log } from "../core/log.ts";

const opened = new WeakMap<Config, Blobs>();

/**
 * The storage for the bytes of files, one for a configuration: the configured bucket, or else the data
 * folder.
 *
 * @param log has a line when other processes cannot read the files (spec/decisions.md 22).
 */
export function openBlobs(config: Config, log?: Log): Blobs {
  const { bucket, database, dataDir, isDataDirShared } = config;
  if (bucket === null && database === "postgresql" && !isDataDirShared)
    log?.(
      "warn",
      "S3_BUCKET is not set: files are kept on this machine, where other processes cannot read them",
    );
  const blobs =
    opened.get(config) ?? (bucket === null ? createLocalBlobs(join(dataDir, "files")) : bucketBlobs(bucket));
  opened.set(config, blobs);
  return blobs;
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
