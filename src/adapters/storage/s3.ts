import { addAbortSignal, type Readable } from "node:stream";
import {
  AbortMultipartUploadCommand,
  GetObjectCommand,
  ListMultipartUploadsCommand,
  S3Client,
  S3ServiceException,
} from "@aws-sdk/client-s3";
import { Upload } from "@aws-sdk/lib-storage";
import { Disk } from "flydrive";
import { S3Driver } from "flydrive/drivers/s3";
import type { Bucket } from "../../config/bucket.ts";
import { Failure, notFound } from "../../core/failure.ts";
import { type Blobs, type ByteRange, checkBlobId } from "../../core/files/blob.ts";
import { contentDisposition } from "../../core/files/filename.ts";

/**
 * The smallest part that S3 accepts. A put holds `partsAtOnce` parts and the one that it fills; with four the
 * memory sometimes rose by more than 64 MB when measured.
 */
const partBytes = 5 * 1024 * 1024;
const partsAtOnce = 2;
const connectMs = 5_000;
/** An idle connection is closed after this time. */
const silentMs = 60_000;

/**
 * Bytes in a bucket of S3 or a compatible service. An object appears when it is complete; larger ones are
 * uploaded in parts.
 *
 * @throws Failure `unavailable` from every method when the service does not answer, or answers with a status
 * of 500 or more.
 */
export function createS3Blobs(bucket: Bucket): Blobs {
  const client = clientOf(bucket);
  const disk = new Disk(
    new S3Driver({ client, bucket: bucket.name, visibility: "private", supportsACL: false }),
  );
  const at = (id: string) => ({ Bucket: bucket.name, Key: bucket.prefix + checkBlobId(id) });

  async function remove(location: BlobLocation): Promise<void> {
    await abortUploads(client, location);
    await disk.delete(location.Key);
  }

  return {
    async put(id, bytes, signal) {
      const location = at(id);
      try {
        // The upload receives an abort from the bytes. It then waits for its parts and aborts the upload.
        const params = { ...location, Body: addAbortSignal(signal, bytes) };
        await new Upload({ client, params, partSize: partBytes, queueSize: partsAtOnce }).done();
        signal.throwIfAborted();
      } catch (thrown) {
        bytes.destroy();
        // If this fails too, the sweep removes the blob.
        await remove(location).catch(() => undefined);
        signal.throwIfAborted();
        throw bytes.errored ?? refusalOf(thrown);
      }
    },
    read: async (id, range) => withFailures(read(client, at(id), range)),
    remove: async (id) => withFailures(remove(at(id))),
    async address(id, { filename, contentType, seconds }) {
      if (!bucket.redirect) return null;
      return disk.getSignedUrl(at(id).Key, {
        contentType,
        contentDisposition: contentDisposition(filename),
        expiresIn: seconds,
      });
    },
  };
}

function clientOf({ endpoint, region, credentials, pathStyle }: Bucket): S3Client {
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint === null ? {} : { endpoint }),
    // Without them the SDK uses the machine's role. The SDK writes into the object, so it gets a copy.
    ...(credentials === null ? {} : { credentials: { ...credentials } }),
    // Many services refuse the checksums of the newer protocol. The signature covers the bytes.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: connectMs, socketTimeout: silentMs },
  });
}

interface BlobLocation {
  readonly Bucket: string;
  readonly Key: string;
}

async function read(
  client: S3Client,
  location: BlobLocation,
  range: ByteRange | undefined,
): Promise<Readable> {
  const Range = range && `bytes=${range.start}-${range.end}`;
  const { Body } = await client.send(new GetObjectCommand({ ...location, Range }));
  return Body as Readable; // in Node.js
}

/**
 * Aborts uploads of this key that a dead process left. Otherwise their parts would be stored, and paid for,
 * permanently.
 */
async function abortUploads(client: S3Client, { Bucket, Key }: BlobLocation): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
  for (const { UploadId } of Uploads.filter((upload) => upload.Key === Key))
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((thrown: unknown) => {
      if (nameOf(thrown) !== "NoSuchUpload") throw thrown;
    });
}

const withFailures = <T>(work: Promise<T>): Promise<T> =>
  work.catch((thrown: unknown) => {
    throw refusalOf(thrown);
  });

/** The failure for an error of the service. A configuration error stays unchanged, for the log. */
function refusalOf(thrown: unknown): unknown {
  if (nameOf(thrown) === "NoSuchKey") return notFound("file");
  return isTransient(thrown)
    ? new Failure("unavailable", "the storage cannot be reached now", { cause: thrown })
    : thrown;
}

/** No connection, a timeout, or an answer with a status of 500 or more. */
function isTransient(thrown: unknown): boolean {
  if (thrown instanceof S3ServiceException) return (thrown.$metadata.httpStatusCode ?? 500) >= 500;
  // Codes of this process begin with ERR_, in particular for bytes that ended early.
  return (
    nameOf(thrown) === "TimeoutError" ||
    (thrown instanceof Error && "code" in thrown && !String(thrown.code).startsWith("ERR_"))
  );
}

const nameOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.name : "");
