import { type FileDetail, type Json, type Operations, Refusal } from "../../shared/operations.ts";
import { jsonResult, type ToolResult, textMax } from "../results.ts";
import { checkMembers, numberIn, optionalTexts, textIn } from "./input.ts";
import { objectSchema as object, type Tool, type Use } from "./tool.ts";

/** The most bytes of a file that a tool sends or takes: they are a part of a model's prompt. */
export const fileBytesMax = 1_048_576;
/** The largest offset in a text: the bytes before it are read too. */
const offsetMax = 2_000_000;
/** Pages of a task's files that are searched for a file. */
const pagesMax = 5;
/** Media types that a model reads as text. */
const textual = /^(text\/|application\/(json|xml|yaml|x-yaml|toml|javascript|typescript|sql|x-sh|x-ndjson)\b|[^;]*\+(json|xml)\b)/;

const string = (description: string): Json => ({ type: "string", description });
const limit = { type: "integer", minimum: 1, maximum: 100, default: 20, description: "Number of files on the page." };

const list = {
  name: "file_list",
  operation: "file.detail",
  title: "List files",
  description: "Lists your uploaded files, or with task_id the files that the agents of a task made. Newest first.",
  inputSchema: object({ task_id: string("Id of the task."), limit, cursor: string("next_cursor of the page before.") }, []),
  annotations: { readOnlyHint: true },
};
const read = {
  name: "file_read",
  operation: "file.detail",
  title: "Read a file",
  description: `Returns the content of a file: text in parts of ${textMax} characters, images as images, other files of at most ${fileBytesMax} bytes as they are.`,
  inputSchema: object(
    {
      file_id: string("Id of the file, from file_list."),
      task_id: string("Id of the task whose agents made the file; absent for an uploaded file."),
      offset: { type: "integer", minimum: 0, default: 0, description: "Position of the first character of a text." },
    },
    ["file_id"],
  ),
  annotations: { readOnlyHint: true },
};
const upload = {
  name: "file_upload",
  operation: "file.upload",
  title: "Upload a file",
  description: `Uploads a file of at most ${fileBytesMax} bytes, which a message can attach by its id for 48 hours. Larger files: atp file upload.`,
  inputSchema: object(
    {
      filename: string("Name with its extension, which decides the media type."),
      text: string("The content of a text file."),
      base64: string("The content in base64, instead of text."),
    },
    ["filename"],
  ),
  annotations: { readOnlyHint: false, destructiveHint: false },
};

export const fileTools: readonly Tool[] = [
  {
    ...list,
    async run(input, { operations, signal }) {
      checkMembers(input, list.inputSchema);
      const limit = numberIn(input, "limit", { least: 1, most: 100, usual: 20 });
      const page = await operations.listFiles({ limit, ...optionalTexts(input, ["task_id", "cursor"]) }, signal);
      return jsonResult({ ...page, data: page.data.map(shown) });
    },
  },
  { ...read, run: (input, use) => readFile(input, use) },
  {
    ...upload,
    async run(input, { operations, signal }) {
      checkMembers(input, upload.inputSchema);
      return jsonResult(shown(await operations.upload(textIn(input, "filename"), bytesIn(input), signal)));
    },
  },
];

/** A file without its address, which works without a credential. */
const shown = ({ id, filename, status, bytes, content_type }: FileDetail): Json => ({ id, filename, status, bytes, content_type });

function bytesIn({ text, base64 }: Json): Uint8Array<ArrayBuffer> {
  const wrong = (rule: string) => new Refusal("invalid_argument", rule, { field: text === undefined ? "base64" : "text" });
  if ((text === undefined) === (base64 === undefined)) throw wrong("either text or base64 is required");
  if (base64 !== undefined && (typeof base64 !== "string" || !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64)))
    throw wrong("base64: must be base64");
  if (text !== undefined && typeof text !== "string") throw wrong("text: must be a text");
  const bytes = typeof base64 === "string" ? Buffer.from(base64, "base64") : Buffer.from(String(text), "utf8");
  if (bytes.length > fileBytesMax) throw wrong(`must be at most ${fileBytesMax} bytes; atp file upload takes larger files`);
  return new Uint8Array(bytes);
}

/** An uploaded file, or one that the agents of a task made. @throws Refusal `not_found` */
export async function findFile(operations: Operations, id: string, taskId: string | undefined, signal: AbortSignal): Promise<FileDetail> {
  if (taskId === undefined) {
    const { file } = await operations.call("file.detail", { file_id: id }, signal);
    return file as FileDetail; // By the schema of the answer.
  }
  let cursor: string | undefined;
  for (let page = 0; page < pagesMax; page += 1) {
    const { data, next_cursor } = await operations.listFiles({ task_id: taskId, limit: 100, ...(cursor && { cursor }) }, signal);
    const found = data.find((file) => file.id === id);
    if (found) return found;
    cursor = next_cursor;
    if (cursor === undefined) break;
  }
  throw new Refusal("not_found", "file not found", { field: "file_id" });
}

async function readFile(input: Json, { operations, signal }: Use): Promise<ToolResult> {
  checkMembers(input, read.inputSchema);
  const taskId = input["task_id"] === undefined ? undefined : textIn(input, "task_id");
  const offset = numberIn(input, "offset", { least: 0, most: offsetMax, usual: 0 });
  const file = await findFile(operations, textIn(input, "file_id"), taskId, signal);
  const type = file.content_type ?? "application/octet-stream";
  const isText = textual.test(type);
  if (!isText && (file.bytes ?? 0) > fileBytesMax)
    throw new Refusal("too_large", `the file has ${file.bytes} bytes, a tool returns at most ${fileBytesMax}; atp file download takes all`);
  if (isText) return readText(operations, file, offset, signal);
  const data = Buffer.from(await operations.download(file, fileBytesMax, signal)).toString("base64");
  if (/^image\/(png|jpeg|gif|webp)$/.test(type)) return { content: [{ type: "image", data, mimeType: type }] };
  return { content: [{ type: "resource", resource: { uri: fileUri(file.id), mimeType: type, blob: data } }] };
}

/** The address of a file as a resource. */
export const fileUri = (id: string): string => `atp://files/${encodeURIComponent(id)}`;

async function readText(operations: Operations, file: FileDetail, offset: number, signal: AbortSignal): Promise<ToolResult> {
  // A character has at most four bytes.
  const bytes = await operations.download(file, 4 * (offset + textMax) + 4, signal);
  const text = new TextDecoder().decode(bytes);
  const part = text.slice(offset, offset + textMax);
  const rest = text.length > offset + textMax ? `\n… more: continue with offset ${offset + textMax}` : "";
  return { content: [{ type: "text", text: part + rest }] };
}
