import { checkFilename } from "../../../../core/files/filename.ts";
import { nameIn } from "../../../../core/workspaces/path.ts";
import type { Tool } from "../tool.ts";
import { pathSchema, refused, toolOf } from "./tool-of.ts";

interface Input {
  readonly path: string;
  readonly filename?: string;
}

/** Hands a file of the workspace to the user. */
export const attachResult: Tool = toolOf<Input>({
  name: "attach_result",
  description:
    "Gives the user a file of your workspace: it is attached to the task as it is now. Do so once for each file, when it is done.",
  properties: {
    path: pathSchema,
    filename: {
      type: "string",
      minLength: 1,
      maxLength: 255,
      description: "Its name for the user; the last part of the path unless given.",
    },
  },
  required: ["path"],
  brief: ({ path }) => `Attach ${path}`,
  async use({ path, filename }, { turn: { workspace } }) {
    const found = await workspace.find(path);
    if (!found) return refused("file not found");
    const name = checkFilename(filename ?? nameIn(found.path));
    const content = workspace.read(found.path);
    return { kind: "result", value: { attached: name, bytes: found.bytes }, files: [{ filename: name, content }] };
  },
});
