import { z } from "zod";
import { baseUrl, switchSetting } from "./values.ts";
import { defineVariable, type Reader } from "./variable.ts";

/** A bucket for the bytes of files, with the credentials for it. */
export interface Bucket {
  readonly name: string;
  /** Without a trailing slash; null: Amazon S3. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Null: the role of the machine. */
  readonly credentials: { accessKeyId: string; secretAccessKey: string } | null;
  /** The prefix of every key: empty, or with a trailing slash. */
  readonly prefix: string;
  /** The bucket is in the URL's path, not in the host name. */
  readonly pathStyle: boolean;
  /** Downloads are redirected to the bucket. */
  readonly redirect: boolean;
}

export const objectStorage = {
  S3_BUCKET: defineVariable({
    type: "bucket name",
    fallback: null,
    unset: "files are kept in `DATA_DIR/files`",
    rule: "3 to 63 lower-case letters, digits, dots and hyphens",
    example: "task-files",
    description:
      "The bucket of S3 or of a compatible service that stores the bytes of files. Several processes on PostgreSQL need it, or DATA_DIR_SHARED.",
    schema: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  }),
  S3_ENDPOINT: defineVariable({
    type: "URL",
    fallback: null,
    unset: "Amazon S3",
    rule: "an http or https URL without user, query or fragment",
    example: "https://s3.example.com",
    description: "The address of a compatible service.",
    schema: baseUrl,
  }),
  S3_REGION: defineVariable({
    type: "text",
    fallback: "us-east-1",
    rule: "1 to 64 letters, digits and hyphens",
    example: "eu-central-1",
    description: "The bucket's region. Most compatible services accept any value.",
    schema: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  }),
  S3_ACCESS_KEY_ID: defineVariable({
    type: "text",
    fallback: null,
    unset: "the role of the machine",
    rule: "the ID of an access key; it requires S3_SECRET_ACCESS_KEY",
    example: "the-id-of-the-key",
    description:
      "The access key of this installation at the service. It needs permission to get, put and delete objects, and to list and abort multipart uploads.",
    schema: z.string().regex(/^[\x21-\x7e]{1,256}$/),
  }),
  S3_SECRET_ACCESS_KEY: defineVariable({
    type: "text",
    fallback: null,
    rule: "the secret of the access key; it requires S3_ACCESS_KEY_ID",
    example: "the-secret-of-the-key",
    description: "The secret that belongs to S3_ACCESS_KEY_ID.",
    secret: true,
    schema: z.string().regex(/^[\x21-\x7e]{1,1024}$/),
  }),
  S3_PREFIX: defineVariable({
    type: "text",
    fallback: null,
    unset: "none",
    rule: "1 to 200 letters, digits, `.`, `_`, `-` and `/`, with no `/` first and no part that is only dots",
    example: "platform/files",
    description: "The prefix of every key, so that a bucket can be shared.",
    schema: z
      .string()
      .regex(/^[A-Za-z0-9._/-]{1,200}$/)
      .transform((text) => text.replace(/\/$/, ""))
      .refine((text) => text.split("/").every((part) => !/^\.*$/.test(part)))
      .transform((text) => `${text}/`),
  }),
  S3_PATH_STYLE: defineVariable({
    ...switchSetting,
    fallback: null,
    unset: "`on` with S3_ENDPOINT, `off` without",
    example: "off",
    description: "Whether the bucket's name is in the path of the URL instead of its host name.",
  }),
  S3_REDIRECT: defineVariable({
    ...switchSetting,
    fallback: "off",
    example: "on",
    description:
      "Whether downloads are redirected to the bucket, with a signed URL that is valid for a few minutes. With `on`, callers must be able to reach S3_ENDPOINT; with `off`, this server sends the bytes.",
  }),
};

/** The configured bucket; null: files are in the data folder. */
export function readBucket({ read, require, isSet }: Reader): Bucket | null {
  const s3 = read(objectStorage);
  if (isSet("S3_ACCESS_KEY_ID")) require(objectStorage, "S3_SECRET_ACCESS_KEY");
  if (isSet("S3_SECRET_ACCESS_KEY")) require(objectStorage, "S3_ACCESS_KEY_ID");
  const { S3_ACCESS_KEY_ID, S3_SECRET_ACCESS_KEY } = s3;
  if (s3.S3_BUCKET === null) return null;
  return {
    name: s3.S3_BUCKET,
    endpoint: s3.S3_ENDPOINT,
    region: s3.S3_REGION,
    credentials:
      S3_ACCESS_KEY_ID === null || S3_SECRET_ACCESS_KEY === null
        ? null
        : { accessKeyId: S3_ACCESS_KEY_ID, secretAccessKey: S3_SECRET_ACCESS_KEY },
    prefix: s3.S3_PREFIX ?? "",
    pathStyle: s3.S3_PATH_STYLE ?? s3.S3_ENDPOINT !== null,
    redirect: s3.S3_REDIRECT,
  };
}
