import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import { type Json, type Operations, Refusal } from "../shared/operations.ts";
import { listParams, result } from "./params.ts";
import { protocolErrors } from "./results.ts";
import { type ServerParts, signalOf } from "./server-parts.ts";

export interface Skill {
  readonly id: string;
  readonly name: string;
  readonly description: string;
}

const getParams = z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.string()).optional() });

/** Prompts of a list, and characters of a description. */
const pageMax = 100;
const descriptionMax = 500;

/** The skills of the caller. Without the right to list them there are none. */
export async function listSkills(operations: Operations, signal: AbortSignal): Promise<readonly Skill[]> {
  try {
    const { data } = await operations.call("skill.list", {}, signal);
    return data as readonly Skill[]; // By the schema of the answer.
  } catch (thrown) {
    if (thrown instanceof Refusal && thrown.code === "permission_denied") return [];
    throw thrown;
  }
}

/** One page of a list that arrives whole. @throws ProtocolError for a cursor of another list */
export function pageOf<T>(all: readonly T[], cursor: string | undefined): { readonly page: readonly T[]; readonly nextCursor?: string } {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(start) || start < 0 || start > all.length)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "unknown cursor");
  const end = start + pageMax;
  return { page: all.slice(start, end), ...(end < all.length && { nextCursor: String(end) }) };
}

/** Each skill as a prompt, by its id: two skills can have the same name. */
export function addPrompts(server: Server, parts: ServerParts): void {
  const { operations } = parts;
  server.setRequestHandler("prompts/list", { params: listParams, result }, ({ cursor }, { mcpReq }) =>
    protocolErrors(async () => {
      const skills = await listSkills(operations, signalOf(parts, mcpReq.signal));
      const { page, ...next } = pageOf(skills, cursor);
      return { prompts: page.map(promptOf), ...next };
    }),
  );
  server.setRequestHandler("prompts/get", { params: getParams, result }, ({ name, arguments: given }, { mcpReq }) =>
    protocolErrors(async () => {
      const skill = (await listSkills(operations, signalOf(parts, mcpReq.signal))).find(({ id }) => id === name);
      if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "unknown prompt");
      const work = given?.["task"];
      if (!work) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "task: the prompt needs a description of the work");
      return {
        description: skill.description.slice(0, descriptionMax),
        messages: [{ role: "user" as const, content: textOf(skill, work) }],
      };
    }),
  );
}

const promptOf = ({ id, name, description }: Skill) => ({
  name: id,
  title: name,
  description: description.slice(0, descriptionMax),
  arguments: [{ name: "task", description: "The work to do.", required: true }],
});

const textOf = ({ id, name }: Skill, work: string): { readonly type: "text"; readonly text: string } => {
  const input: Json = { message: work, force_skills: [id] };
  return {
    type: "text",
    text: `Call the tool task_create for the skill ${JSON.stringify(name)} with this input:\n${JSON.stringify(input, null, 1)}`,
  };
};
