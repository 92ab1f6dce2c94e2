import type { Tool } from "../tool.ts";
import { given, pathSchema, toolOf } from "./tool-of.ts";

interface Input {
  readonly path: string;
  readonly content: string;
}

/** Writes a text into the workspace. */
export const writeFile: Tool = toolOf<Input>({
  name: "write_file",
  description:
    "Makes or replaces a text file of your workspace. The workspace stays with the task; the user does not see it: hand over results with attach_result.",
  properties: { path: pathSchema, content: { type: "string", maxLength: 250_000, description: "The whole content, as UTF-8." } },
  required: ["path", "content"],
  brief: ({ path }) => `Write ${path}`,
  async use({ path, content }, { turn: { workspace } }) {
    const written = await workspace.write(path, [Buffer.from(content)]);
    return given({ path: written.path, bytes: written.bytes });
  },
});
