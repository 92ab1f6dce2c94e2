import type { rpc } from "../../../../packages/client/src/index.ts";
import { Failure, invalidArgument } from "../../../core/failure.ts";
import type { CallerClient, StoredFile } from "../../shared/caller-client.ts";
import { jsonResult, type ToolResult, textMax } from "../results.ts";
import { optional, text, whole } from "./input.ts";
import { type Tool, toolOf } from "./tool.ts";

/** The most bytes of a file that a tool sends or takes: they are a part of a model's prompt. */
export const fileBytesMax = 1_048_576;
/** The largest offset in a text: the bytes before it are read too. */
const offsetMax = 2_000_000;
/** Pages of a task's files that are searched for a file. */
const pagesMax = 5;
/** Media types that a model reads as text. */
const textual =
  /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh|x-ndjson)\b|[^;]*\+(json|xml)\b)/;

const limit = { minimum: 1, maximum: 100, default: 20, description: "Number of files on the page." };

const list = toolOf(
  {
    name: "file_list",
    operation: "file.detail",
    title: "List files",
    description:
      "Lists your uploaded files, or with task_id the files that the agents of a task made. Newest first.",
    members: {
      task_id: optional(text("Id of the task.")),
      limit: optional(whole(limit.minimum, limit.maximum, limit), limit.default),
      cursor: optional(text("next_cursor of the page before.")),
    },
    required: [],
    annotations: { readOnlyHint: true },
  },
  async (client, { task_id: taskId, limit: most, cursor }) => {
    const page = await listFiles(client, {
      limit: most,
      ...(taskId && { taskId }),
      ...(cursor && { cursor }),
    });
    return jsonResult({ ...page, data: page.data.map(shown) });
  },
);

const read = toolOf(
  {
    name: "file_read",
    operation: "file.detail",
    title: "Read a file",
    description: `Returns the content of a file: text in parts of ${textMax} characters, images as images, other files of at most ${fileBytesMax} bytes as they are.`,
    members: {
      file_id: text("Id of the file, from file_list."),
      task_id: optional(text("Id of the task whose agents made the file; absent for an uploaded file.")),
      offset: optional(
        whole(0, offsetMax, {
          minimum: 0,
          default: 0,
          description: "Position of the first character of a text.",
        }),
        0,
      ),
    },
    required: ["file_id"],
    annotations: { readOnlyHint: true },
  },
  async (client, { file_id, task_id, offset }) => {
    const file = await findFile(client, file_id, task_id);
    const type = file.content_type ?? "application/octet-stream";
    if (textual.test(type)) return readText(client, file, offset);
    if ((file.bytes ?? 0) > fileBytesMax)
      throw new Failure(
        "too_large",
        `the file has ${file.bytes} bytes, a tool returns at most ${fileBytesMax}; atp file download takes all`,
      );
    const data = Buffer.from(await client.bytesOf(file, fileBytesMax)).toString("base64");
    if (/^image\/(png|jpeg|gif|webp)$/.test(type))
      return { content: [{ type: "image", data, mimeType: type }] };
    return {
      content: [{ type: "resource", resource: { uri: fileUri(file.id), mimeType: type, blob: data } }],
    };
  },
);

const upload = toolOf(
  {
    name: "file_upload",
    operation: "file.upload",
    title: "Upload a file",
    description: `Uploads a file of at most ${fileBytesMax} bytes, which a message can attach by its id for 48 hours. Larger files: atp file upload.`,
    members: {
      filename: text("Name with its extension, which decides the media type."),
      text: optional(content("The content of a text file.")),
      base64: optional(content("The content in base64, instead of text.")),
    },
    required: ["filename"],
    annotations: { readOnlyHint: false, destructiveHint: false },
  },
  async (client, { filename, ...given }) =>
    jsonResult(shown(await client.files.upload(bytesIn(given), { filename }))),
);

export const fileTools: readonly Tool[] = [list, read, upload];

/** A text that may be empty. */
function content(description: string) {
  const { schema } = text(description);
  return {
    schema,
    read(value: unknown, field: string): string {
      if (typeof value !== "string") throw invalidArgument(field, "must be a text");
      return value;
    },
  };
}

/** A file without its address, which works without a credential. */
const shown = ({ id, filename, status, bytes, content_type }: StoredFile) => ({
  id,
  filename,
  status,
  bytes,
  content_type,
});

function bytesIn({
  text: plain,
  base64,
}: {
  readonly text?: string | undefined;
  readonly base64?: string | undefined;
}) {
  const field = plain === undefined ? "base64" : "text";
  if ((plain === undefined) === (base64 === undefined))
    throw new Failure("invalid_argument", "either text or base64 is required", { path: field });
  if (base64 !== undefined && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64))
    throw invalidArgument("base64", "must be base64");
  const bytes = plain === undefined ? Buffer.from(base64 ?? "", "base64") : Buffer.from(plain, "utf8");
  if (bytes.length > fileBytesMax)
    throw invalidArgument(
      plain === undefined ? "base64" : "text",
      `must be at most ${fileBytesMax} bytes; atp file upload takes larger files`,
    );
  return new Uint8Array(bytes);
}

interface FilePage {
  readonly data: readonly StoredFile[];
  readonly has_more: boolean;
  readonly next_cursor?: string;
}

/**
 * The caller's files, newest first: the list has no name in v2, so its answer gets the form of v2 here.
 * @throws ApiError
 */
export async function listFiles(client: CallerClient, request: rpc.ListFilesRequest): Promise<FilePage> {
  const {
    data = [],
    hasMore = false,
    nextCursor,
  } = await client.rpc("file.v2.FileService/ListFiles", request);
  return { data: data.map(fileIn), has_more: hasMore, ...(nextCursor && { next_cursor: nextCursor }) };
}

const fileIn = ({
  id = "",
  filename = "",
  status = "FILE_STATUS_UNSPECIFIED",
  bytes,
  contentType,
  downloadUrl,
}: rpc.FileDetail): StoredFile => ({
  id,
  filename,
  status: status.replace("FILE_STATUS_", "").toLowerCase() as StoredFile["status"],
  ...(bytes !== undefined && { bytes: Number(bytes) }),
  ...(contentType && { content_type: contentType }),
  ...(downloadUrl && { download_url: downloadUrl }),
});

/** An uploaded file, or one that the agents of a task made. @throws ApiError, Failure `not_found` */
export async function findFile(
  client: CallerClient,
  id: string,
  taskId: string | undefined,
): Promise<StoredFile> {
  if (taskId === undefined) return (await client.files.detail({ file_id: id })).file;
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const { data, next_cursor } = await listFiles(client, { taskId, limit: 100, ...(cursor && { cursor }) });
    const found = data.find((file) => file.id === id);
    if (found) return found;
    cursor = next_cursor;
    if (cursor === undefined) break;
  }
  throw new Failure("not_found", "file not found", { path: "file_id" });
}

/** The address of a file as a resource. */
export const fileUri = (id: string): string => `atp://files/${encodeURIComponent(id)}`;

async function readText(client: CallerClient, file: StoredFile, offset: number): Promise<ToolResult> {
  // A character has at most four bytes.
  const bytes = await client.bytesOf(file, 4 * (offset + textMax) + 4);
  const whole = new TextDecoder().decode(bytes);
  const part = whole.slice(offset, offset + textMax);
  const rest = whole.length > offset + textMax ? `\n… more: continue with offset ${offset + textMax}` : "";
  return { content: [{ type: "text", text: part + rest }] };
}
