import { contentTypeOf } from "../../../../core/files/filename.ts";
import { nameIn, workspacePath } from "../../../../core/workspaces/path.ts";
import type { Tool } from "../tool.ts";
import { readDocument } from "./reading/document.ts";
import { fromSchema, given, pathSchema, pointerSchema, toolOf } from "./tool-of.ts";

interface Input {
  readonly path: string;
  readonly from?: number;
  readonly pointer?: string;
}

/** Reads a file of the workspace. */
export const readFile: Tool = toolOf<Input>({
  name: "read_file",
  description:
    "Reads a file of your workspace: text, CSV (rows), JSON (values), HTML or PDF (pages). Long ones come in parts: when `next` is a number, call again with it as `from`.",
  properties: { path: pathSchema, from: fromSchema, pointer: pointerSchema },
  required: ["path"],
  brief: ({ path }) => `Read ${path}`,
  async use({ path, ...part }, { turn: { workspace, signal } }) {
    const filename = nameIn(workspacePath(path));
    const source = { filename, contentType: contentTypeOf(filename), read: () => workspace.read(path) };
    return given(await readDocument(source, { ...part, signal }));
  },
});
