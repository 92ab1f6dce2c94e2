import { z } from "zod";
import { absent } from "../../core/failure.ts";
import { FileStatus } from "../../gen/proto/file/v2/file_pb.ts";
import { FileService } from "../../gen/proto/file/v2/file_service_pb.ts";
import { receiveForm } from "../files/form.ts";
import { type CreationTime, fileHead, fileObject } from "./file-object.ts";
import { unused } from "./input-shape.ts";
import { type Route, route } from "./route.ts";

/** There is one page, of the newest. */
const listed = z.object({ limit: unused, after: unused, order: unused, purpose: unused });
const one = z.object({ file_id: z.string() });

/** Files below a prefix (contract/v1.md 5, 7.4, 9). */
export const fileRoutes = (prefix: "" | "/v1", time: CreationTime): readonly Route[] => [
  {
    ...route(`POST ${prefix}/files`, FileService.method.uploadFile, z.object({ filename: z.string() }), {
      request: (input) => input,
      response: ({ file, uploadUrl, uploadExpiresAt }) =>
        file ? { ...fileHead(file, time), upload_url: uploadUrl, upload_expires_at: Number(uploadExpiresAt) } : {},
    }),
    // A form makes a file and brings its bytes at once.
    form: async (ask, reply, uploads) => ({ ...fileObject(await receiveForm(ask, reply, uploads), time), purpose: "user_data" }),
  },
  route(`GET ${prefix}/files`, FileService.method.listFiles, listed, {
    request: () => ({}),
    // SDKs ask for the next page until they are told that there is none.
    response: ({ data }) => ({ object: "list", data: data.map((file) => fileObject(file, time)), has_more: false }),
  }),
  route(`GET ${prefix}/files/{file_id}`, FileService.method.getFile, one, {
    request: ({ file_id: fileId }) => ({ fileId }),
    response({ file }) {
      // v2 shows what is left of a deleted file; to v1 it is gone.
      if (!file || file.status === FileStatus.DELETED) throw absent("file");
      return fileObject(file, time);
    },
  }),
  route(`DELETE ${prefix}/files/{file_id}`, FileService.method.deleteFile, one, {
    request: ({ file_id: fileId }) => ({ fileId }),
    response: (_, { file_id: id }) => ({ id, object: "file.deleted", deleted: true }),
  }),
];
