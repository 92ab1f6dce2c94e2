import type { MultipartFile } from "@fastify/multipart";
import { z } from "zod";
import { Failure, invalidArgument, notFound } from "../../core/failure.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import { type FileDetail, FileStatus } from "../../gen/proto/file/v2/file_pb.ts";
import { FileService } from "../../gen/proto/file/v2/file_service_pb.ts";
import { drainRequest } from "../connection.ts";
import { incomingBody } from "../incoming-body.ts";
import type { Call } from "../wire/wire.ts";
import { unused } from "./input.ts";
import { type Invoke, type Route, route } from "./route.ts";

const { uploadFile, getFile, deleteFile } = FileService.method;

/** Limits of a form. Uploads have their own limit of bytes; other parts are small and ignored. */
const limits = {
  fileSize: Number.POSITIVE_INFINITY,
  files: 1,
  fields: 20,
  fieldSize: 64 * 1024,
  headerPairs: 20,
};

/**
 * Creates a file from the form's part `file` and stores its bytes as they arrive (spec/v1.md 9). A failure
 * leaves no file.
 *
 * @throws Failure `invalid_argument` for a form without this part or with a bad name, and the failures of an
 * upload.
 */
async function receiveForm(ask: Invoke, call: Call, uploads: Pick<Uploads, "receive">): Promise<FileDetail> {
  const { raw } = call.request;
  incomingBody(raw)?.allowUploadTime();
  try {
    const part = await filePart(call);
    const { file, uploadExpiresAt } = await ask(uploadFile, { filename: part.filename });
    const fileId = file?.id ?? "";
    await storePart(part, call, uploads, fileId, Number(uploadExpiresAt) * 1000).catch(
      async (thrown: unknown) => {
        await discard(ask, fileId);
        throw endsEarly(thrown, call) ? malformed(thrown) : thrown;
      },
    );
    return await fetchFile(ask, fileId);
  } catch (thrown) {
    drainRequest(raw, call.reply.raw);
    throw thrown;
  }
}

async function filePart({ request }: Call): Promise<MultipartFile> {
  // The call is answered before Fastify selects a parser, which would set this.
  request.isMultipart = () => request.mediaType === "multipart/form-data";
  const part = await request.file({ limits }).catch((thrown: unknown) => {
    throw malformed(thrown);
  });
  if (part?.fieldname !== "file") throw invalidArgument("file", "is required, as the only file");
  return part;
}

const malformed = (cause: unknown): Failure =>
  new Failure("invalid_argument", "the form is not well-formed", { cause });

/** Whether the form breaks off although its request is complete. */
const endsEarly = (thrown: unknown, { request }: Call): boolean =>
  thrown instanceof Failure && thrown.reason === "cancelled" && request.raw.complete;

async function storePart(
  { file }: MultipartFile,
  { gone }: Call,
  uploads: Pick<Uploads, "receive">,
  id: string,
  until: number,
): Promise<void> {
  await uploads.receive(id, until, {
    bytes: file,
    length: null,
    signal: gone,
    digests: [],
    isComplete: () => !file.truncated,
  });
}

/**
 * Deletes a file without bytes. A file whose bytes an earlier call with the same idempotency key stored
 * stays.
 */
async function discard(ask: Invoke, fileId: string): Promise<void> {
  if ((await fetchFile(ask, fileId)).status !== FileStatus.UPLOADED) await ask(deleteFile, { fileId });
}

async function fetchFile(ask: Invoke, fileId: string): Promise<FileDetail> {
  const { file } = await ask(getFile, { fileId });
  if (!file) throw new Error("the answer has no file");
  return file;
}

/** v1's names for the status of a file (spec/v1.md 5); a failed upload has the name that v2 uses. */
const statusNames: ReadonlyMap<FileStatus, string> = new Map([
  [FileStatus.PENDING, "pending"],
  [FileStatus.UPLOADED, "uploaded"],
  [FileStatus.DELETED, "deleted"],
  [FileStatus.ERROR, "error"],
]);

type Head = Pick<FileDetail, "id" | "filename" | "status" | "createdAt">;

/**
 * The form of the time of creation in a family: ISO 8601 for `/v1/files`, a number for `/files` (spec/v1.md
 * 9).
 */
type CreationTime = (seconds: bigint) => string | number;

/** ISO 8601, which `/v1/files` uses only for the time of creation. */
export const isoTime: CreationTime = (seconds) => new Date(Number(seconds) * 1000).toISOString();

/** The members of a file in every answer. */
const fileHead = ({ id, filename, status, createdAt }: Head, time: CreationTime) => ({
  id,
  object: "file",
  filename,
  status: statusNames.get(status),
  created_at: time(createdAt),
});

const fileObject = ({ bytes, contentType, expiresAt, ...head }: FileDetail, time: CreationTime) => ({
  ...fileHead(head, time),
  bytes: bytes === undefined ? undefined : Number(bytes),
  content_type: contentType === "" ? undefined : contentType,
  expires_at: expiresAt === undefined ? undefined : Number(expiresAt),
});

/** The query of a list. There is one page, with the newest files. */
const fileList = z.object({ limit: unused, after: unused, order: unused, purpose: unused });
const fileParams = z.object({ file_id: z.string() });

/** Files below a prefix (spec/v1.md 5, 7.4, 9). */
export const fileRoutes = (prefix: "" | "/v1", time: CreationTime): readonly Route[] => [
  {
    ...route(`POST ${prefix}/files`, FileService.method.uploadFile, z.object({ filename: z.string() }), {
      request: (input) => input,
      response: ({ file, uploadUrl, uploadExpiresAt }) =>
        file
          ? { ...fileHead(file, time), upload_url: uploadUrl, upload_expires_at: Number(uploadExpiresAt) }
          : {},
    }),
    // A form creates a file and sends its bytes in one request.
    form: async (ask, call, uploads) => ({
      ...fileObject(await receiveForm(ask, call, uploads), time),
      purpose: "user_data",
    }),
  },
  route(`GET ${prefix}/files`, FileService.method.listFiles, fileList, {
    request: () => ({}),
    // SDKs request the next page until `has_more` is false.
    response: ({ data }) => ({
      object: "list",
      data: data.map((file) => fileObject(file, time)),
      has_more: false,
    }),
  }),
  route(`GET ${prefix}/files/{file_id}`, FileService.method.getFile, fileParams, {
    request: ({ file_id: fileId }) => ({ fileId }),
    response({ file }) {
      // v2 shows the tombstone of a deleted file; v1 does not find it.
      if (!file || file.status === FileStatus.DELETED) throw notFound("file");
      return fileObject(file, time);
    },
  }),
  route(`DELETE ${prefix}/files/{file_id}`, FileService.method.deleteFile, fileParams, {
    request: ({ file_id: fileId }) => ({ fileId }),
    response: (_, { file_id: id }) => ({ id, object: "file.deleted", deleted: true }),
  }),
];
