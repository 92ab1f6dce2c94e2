import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Handlers } from "../call/handlers.ts";
import { fileStatuses, type StoredFile } from "../core/files/file.ts";
import type { Files } from "../core/files/files.ts";
import type { FileLinks } from "../core/files/links.ts";
import { type FileDetailSchema, type FileSchema, FileStatusSchema } from "../gen/proto/file/v2/file_pb.ts";
import type { FileService } from "../gen/proto/file/v2/file_service_pb.ts";
import { seconds } from "./time.ts";
import { wordsOf } from "./words.ts";

const statusWords = wordsOf(FileStatusSchema, fileStatuses);

/** How many files a list has when nothing is asked (contract/v1.md 5). */
const listedFiles = 10;

const toFile = ({ id, filename, status, createdAt }: StoredFile): MessageInitShape<typeof FileSchema> => ({
  id,
  filename,
  status: statusWords.toValue(status),
  createdAt: seconds(createdAt),
});

/** The file as callers see it (contract/v2.md 7.10). */
export const toDetail = (file: StoredFile): MessageInitShape<typeof FileDetailSchema> => ({
  id: file.id,
  filename: file.filename,
  status: statusWords.toValue(file.status),
  createdAt: seconds(file.createdAt),
  contentType: file.contentType,
  ...(file.bytes === null ? {} : { bytes: BigInt(file.bytes) }),
  ...(file.expiresAt === null ? {} : { expiresAt: seconds(file.expiresAt) }),
  ...(file.error === null ? {} : { errorMessage: file.error }),
});

/** file.upload, file.detail, file.delete and what v1 lists (contract/v2.md 8.12 to 8.14). */
export function fileHandlers(files: Files, links: FileLinks): Handlers<typeof FileService> {
  return {
    async uploadFile(tx, caller, { filename }) {
      const file = await files.open(tx, caller, filename);
      return { file: toFile(file), uploadUrl: links.upload(file.id, file.uploadUntil), uploadExpiresAt: seconds(file.uploadUntil) };
    },
    async getFile(tx, caller, { fileId }) {
      return { file: toDetail(await files.get(tx, caller, fileId)) };
    },
    async listFiles(tx, caller, { limit = listedFiles }) {
      return { data: (await files.list(tx, caller, limit)).map(toDetail) };
    },
    async deleteFile(tx, caller, { fileId }) {
      await files.remove(tx, caller, fileId);
      return {};
    },
  };
}
