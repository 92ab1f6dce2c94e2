import { type FileDetail, FileStatus } from "../../gen/proto/file/v2/file_pb.ts";

/** v1's words for how far a file is (contract/v1.md 5); a failed upload is told as v2 tells it. */
const words: ReadonlyMap<FileStatus, string> = new Map([
  [FileStatus.PENDING, "pending"],
  [FileStatus.UPLOADED, "uploaded"],
  [FileStatus.DELETED, "deleted"],
  [FileStatus.ERROR, "error"],
]);

type Head = Pick<FileDetail, "id" | "filename" | "status" | "createdAt">;

/** How a family writes the time of creation: `/v1/files` as ISO 8601, `/files` as a number (contract/v1.md 9). */
export type CreationTime = (seconds: bigint) => string | number;

/** ISO 8601, which `/v1/files` has for the creation, and for nothing else. */
export const isoTime: CreationTime = (seconds) => new Date(Number(seconds) * 1000).toISOString();

/** What every answer says of a file. */
export const fileHead = ({ id, filename, status, createdAt }: Head, time: CreationTime) => ({
  id,
  object: "file",
  filename,
  status: words.get(status),
  created_at: time(createdAt),
});

/** A file with all that is known of it. */
export const fileObject = ({ bytes, contentType, expiresAt, ...head }: FileDetail, time: CreationTime) => ({
  ...fileHead(head, time),
  bytes: bytes === undefined ? undefined : Number(bytes),
  content_type: contentType === "" ? undefined : contentType,
  expires_at: expiresAt === undefined ? undefined : Number(expiresAt),
});
