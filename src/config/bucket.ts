import { z } from "zod";
import type { Reader } from "./reader.ts";
import { baseUrl } from "./values.ts";
import { variable } from "./variable.ts";

/** A bucket for the bytes of files, and who we are to it. */
export interface Bucket {
  readonly name: string;
  /** Without a slash at its end; null is Amazon's own. */
  readonly endpoint: string | null;
  readonly region: string;
  /** Null: the role that the machine gives. */
  readonly credentials: { readonly accessKeyId: string; readonly secretAccessKey: string } | null;
  /** What every key begins with: empty, or with a slash at its end. */
  readonly prefix: string;
  /** The bucket stands in the path, not in the host's name. */
  readonly pathStyle: boolean;
  /** Downloads go to the bucket itself. */
  readonly redirect: boolean;
}

const onOff = z.enum(["on", "off"]).transform((text) => text === "on");

/** Files in a bucket. */
export const objectStorage = {
  S3_BUCKET: variable({
    type: "bucket name",
    fallback: null,
    unset: "files are kept in `DATA_DIR/files`",
    rule: "3 to 63 lower-case letters, digits, dots and hyphens",
    example: "task-files",
    description: "Keeps the bytes of files in this bucket of S3 or of a compatible service. Several processes on PostgreSQL need it.",
    schema: z.string().regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/),
  }),
  S3_ENDPOINT: variable({
    type: "URL",
    fallback: null,
    unset: "Amazon S3",
    rule: "an http or https URL without user, query or fragment",
    example: "https://s3.example.com",
    description: "The address of a compatible service.",
    schema: baseUrl,
  }),
  S3_REGION: variable({
    type: "text",
    fallback: "us-east-1",
    rule: "1 to 64 letters, digits and hyphens",
    example: "eu-central-1",
    description: "The bucket's region. Compatible services mostly take any.",
    schema: z.string().regex(/^[A-Za-z0-9-]{1,64}$/),
  }),
  S3_ACCESS_KEY_ID: variable({
    type: "text",
    fallback: null,
    unset: "the role that the machine gives",
    rule: "the id of an access key; S3_SECRET_ACCESS_KEY goes with it",
    example: "the-id-of-the-key",
    description:
      "Who this installation is to the service. The key needs to get, put and delete objects, and to list and abort multipart uploads.",
    schema: z.string().regex(/^[\x21-\x7e]{1,256}$/),
  }),
  S3_SECRET_ACCESS_KEY: variable({
    type: "text",
    fallback: null,
    rule: "the secret of the access key; it goes with S3_ACCESS_KEY_ID",
    example: "the-secret-of-the-key",
    description: "Proves it to the service.",
    secret: true,
    schema: z.string().regex(/^[\x21-\x7e]{1,1024}$/),
  }),
  S3_PREFIX: variable({
    type: "text",
    fallback: null,
    unset: "none",
    rule: "1 to 200 letters, digits, `.`, `_`, `-` and `/`, with no `/` first and no part that is only dots",
    example: "platform/files",
    description: "What every key begins with, so that a bucket can be shared.",
    schema: z
      .string()
      .regex(/^[A-Za-z0-9._/-]{1,200}$/)
      .transform((text) => text.replace(/\/$/, ""))
      .refine((text) => text.split("/").every((part) => !/^\.*$/.test(part)))
      .transform((text) => `${text}/`),
  }),
  S3_PATH_STYLE: variable({
    type: "on or off",
    fallback: null,
    unset: "`on` with S3_ENDPOINT, `off` without",
    rule: "on or off",
    example: "off",
    description: "Whether the bucket stands in the address's path rather than in its host name.",
    schema: onOff,
  }),
  S3_REDIRECT: variable({
    type: "on or off",
    fallback: "off",
    rule: "on or off",
    example: "on",
    description:
      "Whether downloads are redirected to the bucket, by an address signed for a few minutes. Callers must be able to reach S3_ENDPOINT then; `off` sends the bytes through this server.",
    schema: onOff,
  }),
};

/** The bucket that the environment names; null: files stay in the data folder. */
export function readBucket({ read, readOr, refuse, isRead }: Reader): Bucket | null {
  const name = read("S3_BUCKET", objectStorage.S3_BUCKET);
  const endpoint = read("S3_ENDPOINT", objectStorage.S3_ENDPOINT);
  const accessKeyId = read("S3_ACCESS_KEY_ID", objectStorage.S3_ACCESS_KEY_ID);
  const secretAccessKey = read("S3_SECRET_ACCESS_KEY", objectStorage.S3_SECRET_ACCESS_KEY);
  const rest = {
    endpoint,
    region: readOr("S3_REGION", objectStorage.S3_REGION, ""),
    credentials: accessKeyId === null || secretAccessKey === null ? null : { accessKeyId, secretAccessKey },
    prefix: readOr("S3_PREFIX", objectStorage.S3_PREFIX, ""),
    pathStyle: readOr("S3_PATH_STYLE", objectStorage.S3_PATH_STYLE, endpoint !== null),
    redirect: readOr("S3_REDIRECT", objectStorage.S3_REDIRECT, false),
  };
  for (const [one, other] of [
    ["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"],
    ["S3_SECRET_ACCESS_KEY", "S3_ACCESS_KEY_ID"],
  ] as const)
    if (isRead(one) && !isRead(other)) refuse(other, objectStorage[other], "");
  return name === null ? null : { name, ...rest };
}
