import type { MessageInitShape } from "@bufbuild/protobuf";
import type { Clock } from "../core/clock.ts";
import { type FileFilter, fileStatuses, type StoredFile } from "../core/files/file.ts";
import type { Files } from "../core/files/files.ts";
import type { FileLinks, ShortLink } from "../core/files/links.ts";
import {
  type FileDetailSchema,
  FileOrigin,
  type FileSchema,
  FileStatusSchema,
} from "../gen/proto/file/v2/file_pb.ts";
import { FileService } from "../gen/proto/file/v2/file_service_pb.ts";
import { implement } from "../pipeline/handlers.ts";
import { enumConverter, pageEnd, seconds } from "./wire-values.ts";

const statuses = enumConverter(FileStatusSchema, fileStatuses);

const originOf = (origin: FileOrigin | undefined): FileFilter["origin"] => {
  if (origin === FileOrigin.TASKS) return "tasks";
  return origin === FileOrigin.ALL ? "all" : undefined;
};

/** The default number of files in a list (spec/v1.md 5). */
const defaultFiles = 10;

const toFile = ({ id, filename, status, createdAt }: StoredFile): MessageInitShape<typeof FileSchema> => ({
  id,
  filename,
  status: statuses.toValue(status),
  createdAt: seconds(createdAt),
});

/** The wire form of a file (spec/api.md 7.10). @param link of its bytes; null when there is none. */
export const toDetail = (
  file: StoredFile,
  link: ShortLink | null,
): MessageInitShape<typeof FileDetailSchema> => ({
  id: file.id,
  filename: file.filename,
  status: statuses.toValue(file.status),
  createdAt: seconds(file.createdAt),
  contentType: file.contentType,
  ...(file.bytes === null ? {} : { bytes: BigInt(file.bytes) }),
  ...(file.expiresAt === null ? {} : { expiresAt: seconds(file.expiresAt) }),
  ...(file.error === null ? {} : { errorMessage: file.error }),
  ...(link === null ? {} : { downloadUrl: link.url, downloadExpiresAt: seconds(link.expiresAt) }),
});

/** file.upload, file.detail, file.delete (spec/api.md 8.12 to 8.14) and the list of v1. */
export function fileHandlers(files: Files, links: FileLinks, clock: Pick<Clock, "now">) {
  const detail = (file: StoredFile) =>
    toDetail(file, file.status === "uploaded" ? links.shortDownload(file.id, clock.now()) : null);
  return implement(FileService, {
    async uploadFile(tx, caller, { filename }) {
      const file = await files.open(tx, caller, filename);
      return {
        file: toFile(file),
        uploadUrl: links.upload(file.id, file.uploadUntil),
        uploadExpiresAt: seconds(file.uploadUntil),
      };
    },
    async getFile(tx, caller, { fileId }) {
      return { file: detail(await files.get(tx, caller, fileId)) };
    },
    async listFiles(tx, caller, { limit = defaultFiles, cursor, taskId, filenameContains, origin }) {
      const filter = {
        taskId: taskId || undefined,
        filenameContains: filenameContains || undefined,
        origin: originOf(origin),
      };
      const { items, next } = await files.list(tx, caller, filter, { limit, cursor });
      return {
        data: items.map((file) => ({
          ...detail(file),
          ...(filter.origin && file.taskId ? { taskId: file.taskId } : {}),
        })),
        ...pageEnd(next),
      };
    },
    async deleteFile(tx, caller, { fileId }) {
      await files.remove(tx, caller, fileId);
      return {};
    },
  });
}
