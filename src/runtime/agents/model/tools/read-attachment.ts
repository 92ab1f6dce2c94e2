import { Failure } from "../../../../core/failure.ts";
import type { GivenFile } from "../../../agent.ts";
import type { Tool, ToolUse } from "../tool.ts";
import { givenFiles } from "./given-files.ts";
import { readDocument } from "./reading/document.ts";
import { fromSchema, given, pathSchema, pointerSchema, refused, toolOf } from "./tool-of.ts";

interface Input {
  readonly name: string;
  readonly from?: number;
  readonly pointer?: string;
  readonly save_as?: string;
}

/** Reads a file that the user has sent. */
export const readAttachment: Tool = toolOf<Input>({
  name: "read_attachment",
  description:
    "Reads a file that the user has sent, by its name: text, CSV (rows), JSON (values), HTML or PDF (pages). Long ones come in parts: when `next` is a number, call again with it as `from`. With `save_as` it is copied into your workspace instead.",
  properties: {
    name: { type: "string", minLength: 1, maxLength: 300, description: "As list_files has it." },
    from: fromSchema,
    pointer: pointerSchema,
    save_as: pathSchema,
  },
  required: ["name"],
  brief: ({ name }) => `Read ${name}`,
  async use({ name, ...part }, { turn }) {
    const found = givenFiles(turn).find((named) => named.name === name);
    if (!found) return refused("file not found");
    try {
      return await readOrSave(found.file, part, turn);
    } catch (thrown) {
      if (!(thrown instanceof Failure && thrown.reason === "absent")) throw thrown;
      return refused("The file is gone: what users send is kept for 48 hours.");
    }
  },
});

async function readOrSave(file: GivenFile, { save_as: path, ...part }: Omit<Input, "name">, turn: ToolUse["turn"]) {
  if (path === undefined) return given(await readDocument(file, { ...part, signal: turn.signal }));
  const saved = await turn.workspace.write(path, file.read());
  return given({ saved: saved.path, bytes: saved.bytes });
}
