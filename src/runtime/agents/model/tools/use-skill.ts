import { Failure } from "../../../../core/failure.ts";
import type { Json, JsonObject } from "../../../../core/json.ts";
import type { GivenSkill } from "../../../agent.ts";
import type { Tool, ToolResult, ToolsFor } from "../tool.ts";

/** So many characters of a file are given at once. */
const charactersMax = 60_000;
const filesMax = 200;
const manifest = "SKILL.md";

export const useSkillName = "use_skill";

const inputSchema: JsonObject = {
  type: "object",
  properties: {
    skill: { type: "string", minLength: 1, maxLength: 128, description: "The skill's id or name, as it is listed." },
    path: {
      type: "string",
      minLength: 1,
      maxLength: 512,
      description: "A file of the skill; without it SKILL.md, with the names of all files.",
    },
    offset: { type: "integer", minimum: 0, description: "The character to go on from, in a file that is long." },
  },
  required: ["skill"],
  additionalProperties: false,
};

/** The tool that loads a skill when it is needed; only where the task has skills. */
export const skillTools: ToolsFor = ({ skills }) => (skills.length === 0 ? [] : [useSkill(skills)]);

const useSkill = (skills: readonly GivenSkill[]): Tool => ({
  name: useSkillName,
  description:
    "Loads one of the skills that are listed: its instructions (SKILL.md), or another of its files. Use it before you do what the skill is for.",
  inputSchema,
  brief: ({ skill }) => `Using the skill ${skillOf(skills, skill)?.name ?? "that was named"}`,
  async use({ input }) {
    const skill = skillOf(skills, input["skill"]);
    return skill ? load(skill, input) : refused("There is no such skill.");
  },
});

const skillOf = (skills: readonly GivenSkill[], named: Json | undefined): GivenSkill | undefined =>
  skills.find(({ id }) => id === named) ?? skills.find(({ name }) => name === named);

async function load(skill: GivenSkill, { path, offset }: JsonObject): Promise<ToolResult> {
  const wanted = typeof path === "string" ? path : manifest;
  try {
    const text = textOf(await skill.read(wanted));
    if (text === undefined) return refused("This file is not text.");
    const from = typeof offset === "number" ? offset : 0;
    const part = text.slice(from, from + charactersMax).toWellFormed();
    const rest = from + charactersMax < text.length ? { next_offset: from + charactersMax } : {};
    return result({ skill: skill.name, path: wanted, text: part, ...rest, ...(path === undefined ? { files: await filesOf(skill) } : {}) });
  } catch (thrown) {
    if (thrown instanceof Failure && thrown.reason === "absent")
      return refused(path === undefined ? "The skill is gone." : "The skill has no such file.");
    throw thrown;
  }
}

const filesOf = async (skill: GivenSkill): Promise<Json> =>
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
const refused = (value: string): ToolResult => ({ kind: "result", value, isError: true });
