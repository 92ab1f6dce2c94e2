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
import type { Bucket } from "../config/bucket.ts";
import { absent, Failure } from "../core/failure.ts";
import type { Blobs, ByteRange } from "../core/files/blobs.ts";
import { attachment } from "../core/files/disposition.ts";
import { checkedId } from "./blob-id.ts";

/** The least that S3 takes. A put holds `partsAtOnce` of them and the one that it fills; with four the memory sometimes rose by more than 64 MB when measured. */
const partBytes = 5 * 1024 * 1024;
const partsAtOnce = 2;
const connectMs = 5_000;
/** A connection on which nothing moves for so long is given up. */
const silentMs = 60_000;

/**
 * Bytes in a bucket of S3 or of a service that speaks its protocol. An object
 * appears when it is whole: larger ones are put in parts.
 *
 * @throws Failure `unavailable` from every method when the service does not answer, or answers that it cannot now.
 */
export function s3Blobs(bucket: Bucket): Blobs {
  const client = clientOf(bucket);
  const disk = new Disk(new S3Driver({ client, bucket: bucket.name, visibility: "private", supportsACL: false }));
  const at = (id: string) => ({ Bucket: bucket.name, Key: bucket.prefix + checkedId(id) });

  async function remove(place: Place): Promise<void> {
    await abortUploads(client, place);
    await disk.delete(place.Key);
  }

  return {
    async put(id, bytes, signal) {
      const place = at(id);
      try {
        // The upload hears of an abort from the bytes: then it waits for its parts and takes them back.
        const params = { ...place, Body: addAbortSignal(signal, bytes) };
        await new Upload({ client, params, partSize: partBytes, queueSize: partsAtOnce }).done();
        signal.throwIfAborted();
      } catch (thrown) {
        bytes.destroy();
        // Where that fails too, the sweep removes it.
        await remove(place).catch(() => undefined);
        signal.throwIfAborted();
        throw bytes.errored ?? refusalOf(thrown);
      }
    },
    read: async (id, range) => translated(read(client, at(id), range)),
    remove: async (id) => translated(remove(at(id))),
    async address(id, { filename, contentType, seconds }) {
      if (!bucket.redirect) return null;
      return disk.getSignedUrl(at(id).Key, { contentType, contentDisposition: attachment(filename), expiresIn: seconds });
    },
  };
}

function clientOf({ endpoint, region, credentials, pathStyle }: Bucket): S3Client {
  return new S3Client({
    region,
    forcePathStyle: pathStyle,
    ...(endpoint === null ? {} : { endpoint }),
    // Without them the SDK asks the machine for its role; it writes into what it is given.
    ...(credentials === null ? {} : { credentials: { ...credentials } }),
    // Checksums of the newer protocol are refused by many services; the signature covers what is sent.
    requestChecksumCalculation: "WHEN_REQUIRED",
    responseChecksumValidation: "WHEN_REQUIRED",
    requestHandler: { connectionTimeout: connectMs, socketTimeout: silentMs },
  });
}

interface Place {
  readonly Bucket: string;
  readonly Key: string;
}

async function read(client: S3Client, place: Place, range: ByteRange | undefined): Promise<Readable> {
  const Range = range && `bytes=${range.start}-${range.end}`;
  const { Body } = await client.send(new GetObjectCommand({ ...place, Range }));
  return Body as Readable; // in Node.js
}

/** Takes back uploads of this key that a process left when it died; their parts would be kept, and paid for, for ever. */
async function abortUploads(client: S3Client, { Bucket, Key }: Place): Promise<void> {
  const { Uploads = [] } = await client.send(new ListMultipartUploadsCommand({ Bucket, Prefix: Key }));
  for (const { UploadId } of Uploads.filter((upload) => upload.Key === Key))
    await client.send(new AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch((thrown: unknown) => {
      if (nameOf(thrown) !== "NoSuchUpload") throw thrown;
    });
}

const translated = <T>(work: Promise<T>): Promise<T> =>
  work.catch((thrown: unknown) => {
    throw refusalOf(thrown);
  });

/** What the service cannot give now; a mistake in the configuration stays what it is, for the log. */
function refusalOf(thrown: unknown): unknown {
  if (nameOf(thrown) === "NoSuchKey") return absent("file");
  return isPassing(thrown) ? new Failure("unavailable", "the storage cannot be reached now", { cause: thrown }) : thrown;
}

/** No connection, no answer in time, or one that says: not now. */
function isPassing(thrown: unknown): boolean {
  if (thrown instanceof S3ServiceException) return (thrown.$metadata.httpStatusCode ?? 500) >= 500;
  // Codes of our own process begin with ERR_: above all that of bytes that were cut off.
  return nameOf(thrown) === "TimeoutError" || (thrown instanceof Error && "code" in thrown && !String(thrown.code).startsWith("ERR_"));
}

const nameOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.name : "");
