import { z } from "zod";
import { absent } from "../../core/failure.ts";
import { FileStatus } from "../../gen/proto/file/v2/file_pb.ts";
import { FileService } from "../../gen/proto/file/v2/file_service_pb.ts";
import { fileHead, fileObject } from "./file-object.ts";
import { route } from "./route.ts";

const one = z.object({ file_id: z.string() });

/** Files of v1 (contract/v1.md 5). */
export const fileRoutes = [
  route("POST /v1/files", FileService.method.uploadFile, z.object({ filename: z.string() }), {
    request: (input) => input,
    response: ({ file, uploadUrl, uploadExpiresAt }) =>
      file ? { ...fileHead(file), upload_url: uploadUrl, upload_expires_at: Number(uploadExpiresAt) } : {},
  }),
  route("GET /v1/files", FileService.method.listFiles, z.object({}), {
    request: () => ({}),
    response: ({ data }) => ({ object: "list", data: data.map(fileObject) }),
  }),
  route("GET /v1/files/{file_id}", FileService.method.getFile, one, {
    request: ({ file_id: fileId }) => ({ fileId }),
    response({ file }) {
      // v2 shows what is left of a deleted file; to v1 it is gone.
      if (!file || file.status === FileStatus.DELETED) throw absent("file");
      return fileObject(file);
    },
  }),
  route("DELETE /v1/files/{file_id}", FileService.method.deleteFile, one, {
    request: ({ file_id: fileId }) => ({ fileId }),
    response: (_, { file_id: id }) => ({ id, object: "file.deleted", deleted: true }),
  }),
];
