import { contentTypeOf } from "../../../../core/files/filename.ts";
import { checkSite, messageMax, type SiteShape, titleMax } from "../../../../core/websites/checkpoint.ts";
import { baseName, workspacePath } from "../../../../core/workspaces/workspace.ts";
import type { Tool } from "../tool.ts";
import { sentFiles } from "./attachments.ts";
import {
  createTool,
  errorResult,
  fromSchema,
  pathSchema,
  pointerSchema,
  successResult,
} from "./create-tool.ts";
import { readDocument } from "./reading/document.ts";

/** Deletes a file of the workspace. */
export const deleteFile: Tool = createTool<{ readonly path: string }>({
  name: "delete_file",
  description: "Deletes a file of your workspace.",
  properties: { path: pathSchema },
  required: ["path"],
  brief: ({ path }) => `Delete ${path}`,
  async use({ path }, { turn: { workspace } }) {
    return (await workspace.remove(path)) ? successResult({ deleted: path }) : errorResult("file not found");
  },
});

interface WriteInput {
  readonly path: string;
  readonly content: string;
}

/** Writes a text into the workspace. */
export const writeFile: Tool = createTool<WriteInput>({
  name: "write_file",
  description:
    "Creates or replaces a text file of your workspace. The workspace is kept with the task; the user does not see it: attach results with attach_result.",
  properties: {
    path: pathSchema,
    content: { type: "string", maxLength: 250_000, description: "The full content, as UTF-8." },
  },
  required: ["path", "content"],
  brief: ({ path }) => `Write ${path}`,
  async use({ path, content }, { turn: { workspace } }) {
    const file = await workspace.write(path, [Buffer.from(content)]);
    return successResult({ path: file.path, bytes: file.bytes });
  },
});

interface ReadInput {
  readonly path: string;
  readonly from?: number;
  readonly pointer?: string;
}

/** Reads a file of the workspace. */
export const readFile: Tool = createTool<ReadInput>({
  name: "read_file",
  description:
    "Reads a file of your workspace: text, CSV (rows), JSON (values), HTML or PDF (pages). Long ones come in parts: when `next` is a number, call again with it as `from`.",
  properties: { path: pathSchema, from: fromSchema, pointer: pointerSchema },
  required: ["path"],
  reads: () => true,
  inParts: true,
  brief: ({ path }) => `Read ${path}`,
  async use({ path, ...part }, { turn: { workspace, signal } }) {
    const filename = baseName(workspacePath(path));
    const source = { filename, contentType: contentTypeOf(filename), read: () => workspace.read(path) };
    return successResult(await readDocument(source, { ...part, signal }));
  },
});

/** Lists the files that the agent can read. */
export const listFiles: Tool = createTool<Record<never, never>>({
  name: "list_files",
  description:
    "Lists the files of your workspace (`workspace`: read_file, write_file, delete_file, attach_result) and the files that the user has sent (`attachments`: read_attachment).",
  properties: {},
  required: [],
  reads: () => true,
  brief: () => "List files",
  async use(_, { turn }) {
    const workspace = (await turn.workspace.list()).map(({ path, bytes }) => ({ path, bytes }));
    const attachments = sentFiles(turn).map(({ name, file: { contentType, bytes } }) => ({
      name,
      content_type: contentType,
      bytes,
    }));
    return successResult({ workspace, attachments });
  },
});

interface Input {
  readonly folder: string;
  readonly title: string;
  readonly message: string;
}

const homePage = "index.html";

/** Saves a folder of the workspace as a checkpoint of the task's website (spec/api.md 9.12). */
export const saveSite: Tool = createTool<Input>({
  name: "save_site",
  description:
    "Saves a folder of your workspace, with all its subfolders, as the website of this task: static files for a browser, with an index.html as the home page. Do so when the site is done, and again after each change: each time the full folder is kept as a new version. This does not publish it: the user does that.",
  properties: {
    folder: {
      type: "string",
      minLength: 1,
      maxLength: 1_000,
      description: "Path of the folder in the workspace, for example site.",
    },
    title: { type: "string", minLength: 1, maxLength: titleMax, description: "The name of the site." },
    message: {
      type: "string",
      minLength: 1,
      maxLength: messageMax,
      description: "The changes in this version, in a sentence.",
    },
  },
  required: ["folder", "title", "message"],
  brief: ({ title }) => `Save the website ${title}`,
  async use({ folder, title, message }, { turn: { workspace } }) {
    const start = `${workspacePath(folder.replace(/\/+$/, ""))}/`;
    const inFolder = await workspace.list(start);
    const files = inFolder.map(({ path, bytes }) => ({ path: path.slice(start.length), bytes }));
    const site: SiteShape = { title, message, files };
    checkSite(site);
    if (!files.some(({ path }) => path === homePage))
      return errorResult(`there is no ${homePage} in the folder`);
    const content = files.map(({ path }) => ({
      path,
      file: { filename: baseName(path), content: workspace.read(start + path) },
    }));
    const value = { title, files: files.length, bytes: files.reduce((sum, { bytes }) => sum + bytes, 0) };
    return { kind: "result", value: { saved: value }, site: { title, message, files: content } };
  },
});
