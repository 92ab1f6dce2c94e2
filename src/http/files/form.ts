import type { MultipartFile } from "@fastify/multipart";
import type { FastifyReply } from "fastify";
import { Failure, invalid } from "../../core/failure.ts";
import type { Uploads } from "../../core/files/uploads.ts";
import { type FileDetail, FileStatus } from "../../gen/proto/file/v2/file_pb.ts";
import { FileService } from "../../gen/proto/file/v2/file_service_pb.ts";
import { linger } from "../linger.ts";
import type { Ask } from "../v1/route.ts";

const { uploadFile, getFile, deleteFile } = FileService.method;

/** The uploads have their own limit of bytes; what else is in a form is small, and passed over. */
const limits = { fileSize: Number.POSITIVE_INFINITY, files: 1, fields: 20, fieldSize: 64 * 1024, headerPairs: 20 };

/**
 * Makes a file of the form's part `file`, and brings its bytes as they come
 * (contract/v1.md 9). What fails leaves no file.
 *
 * @throws Failure `invalid` for a form without it or with a bad name, and what an upload throws.
 */
export async function receiveForm(ask: Ask, reply: FastifyReply, uploads: Pick<Uploads, "receive">): Promise<FileDetail> {
  try {
    const part = await filePart(reply);
    const { file, uploadExpiresAt } = await ask(uploadFile, { filename: part.filename });
    const fileId = file?.id ?? "";
    await bring(part, reply, uploads, fileId, Number(uploadExpiresAt) * 1000).catch(async (thrown: unknown) => {
      await discard(ask, fileId);
      throw endsEarly(thrown, reply) ? malformed(thrown) : thrown;
    });
    return await known(ask, fileId);
  } catch (thrown) {
    linger(reply.request.raw, reply.raw);
    throw thrown;
  }
}

async function filePart({ request }: FastifyReply): Promise<MultipartFile> {
  const part = await request.file({ limits }).catch((thrown: unknown) => {
    throw malformed(thrown);
  });
  if (part?.fieldname !== "file") throw invalid("file", "is required, and the only file");
  return part;
}

const malformed = (cause: unknown): Failure => new Failure("invalid", "the form is not well-formed", { cause });

/** The form breaks off, though its sender is still there. */
const endsEarly = (thrown: unknown, { request }: FastifyReply): boolean =>
  thrown instanceof Failure && thrown.reason === "cancelled" && request.raw.complete;

async function bring(
  { file }: MultipartFile,
  reply: FastifyReply,
  uploads: Pick<Uploads, "receive">,
  id: string,
  until: number,
): Promise<void> {
  const signal = reply.request.rest?.gone ?? new AbortController().signal;
  await uploads.receive(id, until, { bytes: file, length: null, signal, digests: [], isWhole: () => !file.truncated });
}

/** One that an earlier call with the same idempotency key brought stays. */
async function discard(ask: Ask, fileId: string): Promise<void> {
  if ((await known(ask, fileId)).status !== FileStatus.UPLOADED) await ask(deleteFile, { fileId });
}

async function known(ask: Ask, fileId: string): Promise<FileDetail> {
  const { file } = await ask(getFile, { fileId });
  if (!file) throw new Error("a file is answered with itself");
  return file;
}
