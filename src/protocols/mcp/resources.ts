import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Server,
} from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Skill, Task } from "../../../packages/client/src/index.ts";
import { Failure } from "../../core/failure.ts";
import type { CallerClient, StoredFile } from "../shared/caller-client.ts";
import { unless } from "../shared/refusal.ts";
import { readTask } from "../shared/turn.ts";
import { listParams, result } from "./params.ts";
import { listSkills } from "./prompts.ts";
import { protocolErrors, textMax } from "./results.ts";
import { clientFor, type ServerParts } from "./server-parts.ts";
import { fileBytesMax, fileUri, findFile, listFiles } from "./tools/files.ts";
import { turnView } from "./tools/settle.ts";

const readParams = z.looseObject({ uri: z.string() });

/** Resources of a page. */
const pageSize = 50;
/** Events of a task that its resource begins with, from the newest. */
const shownEvents = 50;
const json = "application/json";

const templates = [
  {
    uriTemplate: "atp://tasks/{task_id}",
    name: "task",
    title: "A task with its newest messages",
    mimeType: json,
  },
  { uriTemplate: "atp://files/{file_id}", name: "file", title: "An uploaded file" },
  {
    uriTemplate: "atp://tasks/{task_id}/files/{file_id}",
    name: "task_file",
    title: "A file that the agents of a task made",
  },
  {
    uriTemplate: "atp://skills/{skill_id}",
    name: "skill",
    title: "A skill with its instructions",
    mimeType: "text/markdown",
  },
];

/** Tasks, uploaded files and skills as resources. */
export function addResources(server: Server, parts: ServerParts): void {
  server.setRequestHandler("resources/templates/list", { params: listParams, result }, () => ({
    resourceTemplates: templates,
  }));
  server.setRequestHandler("resources/list", { params: listParams, result }, ({ cursor }, context) =>
    protocolErrors(() => listResources(clientFor(parts, context), cursor)),
  );
  server.setRequestHandler("resources/read", { params: readParams, result }, ({ uri }, context) =>
    protocolErrors(async () => {
      const contents = await unless("not_found", readResource(clientFor(parts, context), uri));
      if (!contents) throw new ResourceNotFoundError(uri);
      return { contents: [contents] };
    }),
  );
}

/** A page of tasks, then of files, then the skills. The cursor names the list and its own cursor. */
async function listResources(client: CallerClient, cursor: string | undefined) {
  const [, kind = "", inner = ""] = /^(tasks|files|skills) ?(.*)$/s.exec(cursor ?? "tasks") ?? [];
  const more = { limit: pageSize, ...(inner && { cursor: inner }) };
  if (kind === "tasks") {
    const { data, next_cursor } = await client.call("task.list", more);
    return { resources: data.map(taskResource), nextCursor: next_cursor ? `tasks ${next_cursor}` : "files" };
  }
  if (kind === "files") {
    const { data, next_cursor } = await listFiles(client, more);
    const uploaded = data.filter(({ status }) => status === "uploaded");
    return {
      resources: uploaded.map(fileResource),
      nextCursor: next_cursor ? `files ${next_cursor}` : "skills",
    };
  }
  if (kind !== "skills") throw new ProtocolError(ProtocolErrorCode.InvalidParams, "unknown cursor");
  return { resources: (await listSkills(client)).map(skillResource) };
}

const taskResource = ({ id, title, status }: Task) => ({
  uri: `atp://tasks/${id}`,
  name: id,
  title,
  description: `A task, ${status}`,
  mimeType: json,
});
const fileResource = ({ id, filename, bytes, content_type }: StoredFile) => ({
  uri: fileUri(id),
  name: filename,
  ...(content_type && { mimeType: content_type }),
  ...(bytes == null ? {} : { size: bytes }),
});
const skillResource = ({ id, name, description }: Skill) => ({
  uri: `atp://skills/${id}`,
  name: id,
  title: name,
  description: description.slice(0, 500),
  mimeType: "text/markdown",
});

type Contents = { uri: string; mimeType: string } & ({ text: string } | { blob: string });

/** The contents of a resource; undefined for an address that none has. */
async function readResource(client: CallerClient, uri: string): Promise<Contents | undefined> {
  const [, kind, id = "", fileId] =
    /^atp:\/\/(tasks|files|skills)\/([^/?#]{1,128})(?:\/files\/([^/?#]{1,128}))?$/.exec(uri) ?? [];
  if (kind === "tasks" && fileId !== undefined)
    return readFile(client, uri, await findFile(client, fileId, id));
  if (kind === "tasks") return { uri, mimeType: json, text: await readTaskView(client, id) };
  if (kind === "files" && fileId === undefined)
    return readFile(client, uri, await findFile(client, id, undefined));
  if (kind === "skills" && fileId === undefined)
    return { uri, mimeType: "text/markdown", text: await readSkill(client, id) };
  return undefined;
}

/** The state of a task and its newest messages, without waiting. */
async function readTaskView(client: CallerClient, taskId: string): Promise<string> {
  const task = await readTask(client, taskId);
  const { last_seq: lastSeq } = task;
  const after_seq = Math.max(0, lastSeq - shownEvents);
  const { messages } = await client.tasks.listMessages({
    task_id: taskId,
    after_seq,
    order: "asc",
    limit: shownEvents,
  });
  return JSON.stringify(turnView(taskId, { task, events: messages, waiting: null, lastSeq }), null, 1).slice(
    0,
    textMax,
  );
}

async function readFile(client: CallerClient, uri: string, file: StoredFile): Promise<Contents> {
  const { content_type: contentType = "application/octet-stream" } = file;
  const bytes = file.bytes ?? 0;
  if (bytes > fileBytesMax)
    throw new Failure("too_large", `the file has ${bytes} bytes, a resource at most ${fileBytesMax}`);
  const content = await client.bytesOf(file, fileBytesMax);
  if (contentType.startsWith("text/"))
    return { uri, mimeType: contentType, text: new TextDecoder().decode(content) };
  return { uri, mimeType: contentType, blob: Buffer.from(content).toString("base64") };
}

/** The description of a skill; its instructions for a key whose person may change the skill. */
async function readSkill(client: CallerClient, id: string): Promise<string> {
  const skill = (await listSkills(client)).find((one) => one.id === id);
  if (!skill) throw new Failure("not_found", "skill not found");
  const { credential } = await client.rights();
  const content =
    credential.kind === "token"
      ? undefined
      : await unless("permission_denied", client.rpc("settings.v1.SkillService/GetSkillContent", { id }));
  return content ? (content.text ?? "").slice(0, textMax) : `# ${skill.name}\n\n${skill.description}\n`;
}
