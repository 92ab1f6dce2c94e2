import type { Tool } from "../tool.ts";
import { given, pathSchema, refused, toolOf } from "./tool-of.ts";

/** Removes a file of the workspace. */
export const deleteFile: Tool = toolOf<{ readonly path: string }>({
  name: "delete_file",
  description: "Deletes a file of your workspace.",
  properties: { path: pathSchema },
  required: ["path"],
  brief: ({ path }) => `Delete ${path}`,
  async use({ path }, { turn: { workspace } }) {
    return (await workspace.remove(path)) ? given({ deleted: path }) : refused("file not found");
  },
});
