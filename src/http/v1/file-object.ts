import { type FileDetail, FileStatus } from "../../gen/proto/file/v2/file_pb.ts";

/** v1's words for how far a file is (contract/v1.md 5); a failed upload is told as v2 tells it. */
const words: ReadonlyMap<FileStatus, string> = new Map([
  [FileStatus.PENDING, "pending"],
  [FileStatus.UPLOADED, "uploaded"],
  [FileStatus.DELETED, "deleted"],
  [FileStatus.ERROR, "error"],
]);

type Head = Pick<FileDetail, "id" | "filename" | "status" | "createdAt">;

/** ISO 8601, which `/v1/files` has for the creation, and for nothing else (contract/v1.md 9). */
const isoTime = (seconds: bigint): string => new Date(Number(seconds) * 1000).toISOString();

/** What every answer says of a file. */
export const fileHead = ({ id, filename, status, createdAt }: Head) => ({
  id,
  object: "file",
  filename,
  status: words.get(status),
  created_at: isoTime(createdAt),
});

/** A file as `/v1/files` shows it. */
export const fileObject = ({ bytes, contentType, expiresAt, ...head }: FileDetail) => ({
  ...fileHead(head),
  bytes: bytes === undefined ? undefined : Number(bytes),
  content_type: contentType === "" ? undefined : contentType,
  expires_at: expiresAt === undefined ? undefined : Number(expiresAt),
});
