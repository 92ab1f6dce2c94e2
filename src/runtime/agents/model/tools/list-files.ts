import type { Tool } from "../tool.ts";
import { givenFiles } from "./given-files.ts";
import { given, toolOf } from "./tool-of.ts";

/** Lists what the agent can read. */
export const listFiles: Tool = toolOf<Record<never, never>>({
  name: "list_files",
  description:
    "Lists the files of your workspace (`workspace`: read_file, write_file, delete_file, attach_result) and the files that the user has sent (`attachments`: read_attachment).",
  properties: {},
  required: [],
  brief: () => "List files",
  async use(_, { turn }) {
    const workspace = (await turn.workspace.list()).map(({ path, bytes }) => ({ path, bytes }));
    const attachments = givenFiles(turn).map(({ name, file: { contentType, bytes } }) => ({ name, content_type: contentType, bytes }));
    return given({ workspace, attachments });
  },
});
