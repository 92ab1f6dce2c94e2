import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { Readable } from "node:stream";
import { CreateMultipartUploadCommand, S3Client, UploadPartCommand } from "@aws-sdk/client-s3";
import { createLocalBlobs } from "../../src/adapters/storage/local.ts";
import { createS3Blobs } from "../../src/adapters/storage/s3.ts";
import type { Blobs } from "../../src/core/files/blob.ts";
import { startS3 } from "../support/s3-server.ts";

/** A storage under test. */
export interface StorageRig extends AsyncDisposable {
  readonly blobs: Blobs;
  /** Names of all objects that it keeps, complete or begun. */
  left(): readonly string[];
  /** Leaves what a process leaves when it dies during this put. */
  die(id: string): Promise<void>;
}

export async function folderRig(): Promise<StorageRig & { readonly folder: string }> {
  const folder = mkdtempSync(join(tmpdir(), "blobs-"));
  const blobs = createLocalBlobs(folder);
  const files = () =>
    readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const never = new AbortController().signal;
  return {
    folder,
    blobs,
    left: () => files().map((file) => file.name),
    async die(id) {
      await blobs.put(id, Readable.from([]), never);
      const [file] = files().filter((entry) => entry.name === id);
      await blobs.remove(id);
      const path = join(file?.parentPath ?? "", `${id}.part`);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, "begun");
    },
    async [Symbol.asyncDispose]() {
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function bucketRig(): Promise<StorageRig> {
  const server = await startS3();
  const { name: Bucket, endpoint, region, credentials, prefix } = server.bucket;
  const client = new S3Client({
    region,
    forcePathStyle: true,
    endpoint: endpoint ?? "",
    credentials: credentials ?? { accessKeyId: "", secretAccessKey: "" },
  });
  return {
    blobs: createS3Blobs(server.bucket),
    left: () => [...server.objects(), ...server.uploads()].map((key) => key.replace(prefix, "")),
    async die(id) {
      const place = { Bucket, Key: prefix + id };
      const { UploadId } = await client.send(new CreateMultipartUploadCommand(place));
      await client.send(new UploadPartCommand({ ...place, UploadId, PartNumber: 1, Body: "begun" }));
    },
    async [Symbol.asyncDispose]() {
      client.destroy();
      await server[Symbol.asyncDispose]();
    },
  };
}
