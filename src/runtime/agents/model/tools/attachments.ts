import { Failure } from "../../../../core/failure.ts";
import { checkFilename } from "../../../../core/files/filename.ts";
import { baseName } from "../../../../core/workspaces/workspace.ts";
import type { AttachedFile, Turn } from "../../../agent.ts";
import type { Tool, ToolUse } from "../tool.ts";
import {
  createTool,
  errorResult,
  fromSchema,
  pathSchema,
  pointerSchema,
  readsUnlessSaved,
  successResult,
} from "./create-tool.ts";
import { readDocument } from "./reading/document.ts";

interface ResultInput {
  readonly path: string;
  readonly filename?: string;
}

/** Attaches a file of the workspace to the task, for the user. */
export const attachResult: Tool = createTool<ResultInput>({
  name: "attach_result",
  description:
    "Gives the user a file of your workspace: it is attached to the task as it is now. Do so once for each file, when it is done.",
  properties: {
    path: pathSchema,
    filename: {
      type: "string",
      minLength: 1,
      maxLength: 255,
      description: "The file's name for the user; by default the last part of the path.",
    },
  },
  required: ["path"],
  brief: ({ path }) => `Attach ${path}`,
  async use({ path, filename }, { turn: { workspace } }) {
    const match = await workspace.find(path);
    if (!match) return errorResult("file not found");
    const name = checkFilename(filename ?? baseName(match.path));
    const content = workspace.read(match.path);
    return {
      kind: "result",
      value: { attached: name, bytes: match.bytes },
      files: [{ filename: name, content }],
    };
  },
});

/** A file that a user has sent, with a unique name. */
export interface NamedFile {
  readonly name: string;
  readonly file: AttachedFile;
}

/**
 * The files that users have sent, newest first. The older of two files with the same name is called `name
 * (2)`.
 */
export function sentFiles({
  earlier,
  attachments,
}: Pick<Turn, "earlier" | "attachments">): readonly NamedFile[] {
  const before = earlier.flatMap((entry) => (entry.role === "user" ? (entry.files ?? []) : []));
  const seen = new Map<string, number>();
  return [...before, ...attachments].toReversed().map((file) => {
    const nth = (seen.get(file.filename) ?? 0) + 1;
    seen.set(file.filename, nth);
    return { name: nth === 1 ? file.filename : `${file.filename} (${nth})`, file };
  });
}

interface AttachmentInput {
  readonly name: string;
  readonly from?: number;
  readonly pointer?: string;
  readonly save_as?: string;
}

/** Reads a file that the user has sent. */
export const readAttachment: Tool = createTool<AttachmentInput>({
  name: "read_attachment",
  description:
    "Reads a file that the user has sent, by its name: text, CSV (rows), JSON (values), HTML or PDF (pages). Long ones come in parts: when `next` is a number, call again with it as `from`. With `save_as` it is copied into your workspace instead.",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 300, description: "The name that list_files shows." },
    from: fromSchema,
    pointer: pointerSchema,
    save_as: pathSchema,
  },
  required: ["name"],
  reads: readsUnlessSaved,
  inParts: true,
  brief: ({ name }) => `Read ${name}`,
  async use({ name, ...part }, { turn }) {
    const match = sentFiles(turn).find((named) => named.name === name);
    if (!match) return errorResult("file not found");
    try {
      return await readOrSave(match.file, part, turn);
    } catch (thrown) {
      if (!(thrown instanceof Failure && thrown.reason === "not_found")) throw thrown;
      return errorResult("The file is gone: files that users send are kept for 48 hours.");
    }
  },
});

async function readOrSave(
  file: AttachedFile,
  { save_as: saveAs, ...part }: Omit<AttachmentInput, "name">,
  turn: ToolUse["turn"],
) {
  if (saveAs === undefined) return successResult(await readDocument(file, { ...part, signal: turn.signal }));
  const saved = await turn.workspace.write(saveAs, file.read());
  return successResult({ saved: saved.path, bytes: saved.bytes });
}
