import { checkFilename } from "../../../../core/files/filename.ts";
import { baseName } from "../../../../core/workspaces/workspace.ts";
import type { Tool } from "../tool.ts";
import { createTool, pathSchema } from "./create-tool.ts";
import { missingFile } from "./workspace.ts";

interface Input {
  readonly files: readonly { readonly path: string; readonly name?: string }[];
}

/** Attaches files of the workspace to the task, for the user. */
export const deliver: Tool = createTool<Input>({
  name: "deliver",
  description: "Gives the user files of your workspace as they are now. Do so when they are done.",
  properties: {
    files: {
      type: "array",
      minItems: 1,
      maxItems: 20,
      items: {
        type: "object",
        properties: {
          path: pathSchema,
          name: { type: "string", minLength: 1, maxLength: 255, description: "The name for the user." },
        },
        required: ["path"],
        additionalProperties: false,
      },
    },
  },
  required: ["files"],
  brief: ({ files }) => `Deliver ${files.map(({ path, name }) => name ?? baseName(path)).join(", ")}`,
  async use({ files }, { turn: { workspace } }) {
    const found = [];
    for (const { path, name } of files) {
      const file = await workspace.find(path);
      if (!file) return missingFile(workspace, path);
      found.push({ ...file, filename: checkFilename(name ?? baseName(file.path)) });
    }
    return {
      kind: "result",
      value: { delivered: found.map(({ filename, bytes }) => ({ name: filename, bytes })) },
      files: found.map(({ path, filename }) => ({ filename, content: workspace.read(path) })),
    };
  },
});
