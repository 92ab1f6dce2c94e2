import { Failure } from "../../../../core/failure.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { TurnSkill } from "../../../agent.ts";
import type { Tool, ToolResult, ToolsFor } from "../tool.ts";

/** The most characters of a file that are returned at once. */
const charactersMax = 60_000;
const filesMax = 200;
const manifest = "SKILL.md";

export const skillName = "skill";

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    skill: {
      type: "string",
      minLength: 1,
      maxLength: 128,
      description: "The skill's id or name, as listed.",
    },
    path: {
      type: "string",
      minLength: 1,
      maxLength: 512,
      description: "A file of the skill; without it SKILL.md, with the names of all files.",
    },
    offset: { type: "integer", minimum: 0, description: "The character to continue from, in a long file." },
  },
  required: ["skill"],
  additionalProperties: false,
};

/** The tool that loads a skill on demand; only when the task has skills. */
export const skillTools: ToolsFor = ({ skills }) => (skills.length === 0 ? [] : [useSkill(skills)]);

const useSkill = (skills: readonly TurnSkill[]): Tool => ({
  name: skillName,
  description:
    "Loads one of the listed skills: its instructions (SKILL.md), or another of its files. Use it before you do work that the skill is for.",
  inputSchema,
  repeats: true,
  reads: () => true,
  inParts: true,
  // Its path is one of the skill, not of the workspace.
  permission: ({ skill }) => ({ subjects: typeof skill === "string" ? [skill] : [] }),
  brief: ({ skill }) => `Using the skill ${skillOf(skills, skill)?.name ?? "with that name"}`,
  async use({ input }) {
    const skill = skillOf(skills, input["skill"]);
    return skill ? load(skill, input) : errorResult("There is no such skill.");
  },
});

const skillOf = (skills: readonly TurnSkill[], named: Json | undefined): TurnSkill | undefined =>
  skills.find(({ id }) => id === named) ?? skills.find(({ name }) => name === named);

async function load(skill: TurnSkill, { path, offset }: JsonObject): Promise<ToolResult> {
  const file = typeof path === "string" ? path : manifest;
  try {
    const text = textOf(await skill.read(file));
    if (text === undefined) return errorResult("This file is not text.");
    const from = typeof offset === "number" ? offset : 0;
    const part = text.slice(from, from + charactersMax).toWellFormed();
    const rest = from + charactersMax < text.length ? { next_offset: from + charactersMax } : {};
    return result({
      skill: skill.name,
      path: file,
      text: part,
      ...rest,
      ...(path === undefined ? { files: await filesOf(skill) } : {}),
    });
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "not_found")
      return errorResult(path === undefined ? "The skill is gone." : "The skill has no such file.");
    throw thrown;
  }
}

const filesOf = async (skill: TurnSkill): Promise<Json> =>
  (await skill.list()).slice(0, filesMax).map(({ path, bytes }) => ({ path, bytes }));

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    return text.includes("\0") ? undefined : text;
  } catch {
    return undefined;
  }
}

const result = (value: Json): ToolResult => ({ kind: "result", value });
const errorResult = (value: string): ToolResult => ({ kind: "result", value, isError: true });
