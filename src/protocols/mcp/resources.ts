import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError, type Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type FileDetail, type Json, type Operations, Refusal } from "../shared/operations.ts";
import type { follow } from "../shared/turn.ts";
import { listParams, result } from "./params.ts";
import { listSkills, type Skill } from "./prompts.ts";
import { protocolErrors, textMax } from "./results.ts";
import { type ServerParts, signalOf } from "./server-parts.ts";
import { fileBytesMax, fileUri, findFile } from "./tools/files.ts";
import { turnView } from "./tools/settle.ts";

const readParams = z.looseObject({ uri: z.string() });

/** Resources of a page. */
const pageSize = 50;
/** Events of a task that its resource begins with, from the newest. */
const shownEvents = 50;
const json = "application/json";

const templates = [
  { uriTemplate: "atp://tasks/{task_id}", name: "task", title: "A task with its newest messages", mimeType: json },
  { uriTemplate: "atp://files/{file_id}", name: "file", title: "An uploaded file" },
  { uriTemplate: "atp://tasks/{task_id}/files/{file_id}", name: "task_file", title: "A file that the agents of a task made" },
  { uriTemplate: "atp://skills/{skill_id}", name: "skill", title: "A skill with its instructions", mimeType: "text/markdown" },
];

/** Tasks, uploaded files and skills as resources. */
export function addResources(server: Server, parts: ServerParts): void {
  const { operations } = parts;
  server.setRequestHandler("resources/templates/list", { params: listParams, result }, () => ({ resourceTemplates: templates }));
  server.setRequestHandler("resources/list", { params: listParams, result }, ({ cursor }, { mcpReq }) =>
    protocolErrors(() => listResources(operations, cursor, signalOf(parts, mcpReq.signal))),
  );
  server.setRequestHandler("resources/read", { params: readParams, result }, ({ uri }, { mcpReq }) =>
    protocolErrors(async () => ({ contents: [await readResource(operations, uri, signalOf(parts, mcpReq.signal))] })),
  );
}

/** A page of tasks, then of files, then the skills. The cursor names the list and its own cursor. */
async function listResources(operations: Operations, cursor: string | undefined, signal: AbortSignal) {
  const [, kind = "", inner = ""] = /^(tasks|files|skills) ?(.*)$/s.exec(cursor ?? "tasks") ?? [];
  const more = { limit: pageSize, ...(inner && { cursor: inner }) };
  if (kind === "tasks") {
    const { data, next_cursor } = await operations.call("task.list", more, signal);
    return { resources: (data as Json[]).map(taskResource), nextCursor: next_cursor ? `tasks ${String(next_cursor)}` : "files" };
  }
  if (kind === "files") {
    const { data, next_cursor } = await operations.listFiles(more, signal);
    const uploaded = data.filter(({ status }) => status === "uploaded");
    return { resources: uploaded.map(fileResource), nextCursor: next_cursor ? `files ${next_cursor}` : "skills" };
  }
  if (kind !== "skills") throw new ProtocolError(ProtocolErrorCode.InvalidParams, "unknown cursor");
  return { resources: (await listSkills(operations, signal)).map(skillResource) };
}

const taskResource = ({ id, title, status }: Json) => ({
  ...{ uri: `atp://tasks/${String(id)}`, name: String(id), title: String(title), description: `A task, ${String(status)}`, mimeType: json },
});
const fileResource = ({ id, filename, bytes, content_type }: FileDetail) => ({
  ...{ uri: fileUri(id), name: filename },
  ...(content_type && { mimeType: content_type }),
  ...(bytes === undefined ? {} : { size: bytes }),
});
const skillResource = ({ id, name, description }: Skill) => ({
  ...{ uri: `atp://skills/${id}`, name: id, title: name, description: description.slice(0, 500), mimeType: "text/markdown" },
});

type Contents = { uri: string; mimeType: string } & ({ text: string } | { blob: string });

async function readResource(operations: Operations, uri: string, signal: AbortSignal): Promise<Contents> {
  const [, kind, id = "", fileId] = /^atp:\/\/(tasks|files|skills)\/([^/?#]{1,128})(?:\/files\/([^/?#]{1,128}))?$/.exec(uri) ?? [];
  try {
    if (kind === "tasks" && fileId !== undefined)
      return await readFile(operations, uri, await findFile(operations, fileId, id, signal), signal);
    if (kind === "tasks") return { uri, mimeType: json, text: await readTaskView(operations, id, signal) };
    if (kind === "files" && fileId === undefined)
      return await readFile(operations, uri, await findFile(operations, id, undefined, signal), signal);
    if (kind === "skills" && fileId === undefined) return { uri, mimeType: "text/markdown", text: await readSkill(operations, id, signal) };
  } catch (thrown) {
    if (!(thrown instanceof Refusal) || thrown.code !== "not_found") throw thrown;
  }
  throw new ResourceNotFoundError(uri);
}

/** The state of a task and its newest messages, without waiting. */
async function readTaskView(operations: Operations, taskId: string, signal: AbortSignal): Promise<string> {
  const { task } = await operations.call("task.detail", { task_id: taskId }, signal);
  const seq = Math.max(0, Number((task as Json)["last_seq"]) - shownEvents);
  const { messages } = await operations.call(
    "task.listMessages",
    { task_id: taskId, after_seq: seq, order: "asc", limit: shownEvents },
    signal,
  );
  return JSON.stringify(pastView(taskId, task as Json, messages as Parameters<typeof pastView>[2]), null, 1).slice(0, textMax);
}

const pastView = (taskId: string, task: Json, events: Awaited<ReturnType<typeof follow>>["events"]): Json =>
  turnView(taskId, { task, events, waiting: null, lastSeq: Number(task["last_seq"]) });

async function readFile(operations: Operations, uri: string, file: FileDetail, signal: AbortSignal): Promise<Contents> {
  const { bytes = 0, content_type: mimeType = "application/octet-stream" } = file;
  if (bytes > fileBytesMax) throw new Refusal("too_large", `the file has ${bytes} bytes, a resource at most ${fileBytesMax}`);
  const content = await operations.download(file, fileBytesMax, signal);
  if (mimeType.startsWith("text/")) return { uri, mimeType, text: new TextDecoder().decode(content) };
  return { uri, mimeType, blob: Buffer.from(content).toString("base64") };
}

/** The description of a skill; its instructions for a key whose person may change the skill. */
async function readSkill(operations: Operations, id: string, signal: AbortSignal): Promise<string> {
  const skill = (await listSkills(operations, signal)).find((one) => one.id === id);
  if (!skill) throw new Refusal("not_found", "skill not found");
  const { credential } = await operations.caller(signal);
  const description = `# ${skill.name}\n\n${skill.description}\n`;
  if (credential.kind === "token") return description;
  try {
    return (await operations.readSkill(id, signal)).slice(0, textMax);
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "permission_denied") return description;
    throw thrown;
  }
}
