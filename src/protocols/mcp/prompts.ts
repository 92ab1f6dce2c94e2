import { ProtocolError, ProtocolErrorCode, type Server } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { Client, Skill } from "../../../packages/client/src/index.ts";
import { unless } from "../shared/refusal.ts";
import { listParams, result } from "./params.ts";
import { protocolErrors } from "./results.ts";
import { clientFor, type ServerParts } from "./server-parts.ts";

const getParams = z.looseObject({ name: z.string(), arguments: z.record(z.string(), z.string()).optional() });

/** Prompts of a list, and characters of a description. */
const pageMax = 100;
const descriptionMax = 500;

/** The skills of the caller. Without the right to list them there are none. */
export const listSkills = async (client: Client): Promise<readonly Skill[]> =>
  (await unless("permission_denied", client.skills.list()))?.data ?? [];

/** One page of a list that arrives whole. @throws ProtocolError for a cursor of another list */
export function pageOf<T>(
  all: readonly T[],
  cursor: string | undefined,
): { readonly page: readonly T[]; readonly nextCursor?: string } {
  const start = cursor === undefined ? 0 : Number(cursor);
  if (!Number.isInteger(start) || start < 0 || start > all.length)
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "unknown cursor");
  const end = start + pageMax;
  return { page: all.slice(start, end), ...(end < all.length && { nextCursor: String(end) }) };
}

/** Each skill as a prompt, by its id: two skills can have the same name. */
export function addPrompts(server: Server, parts: ServerParts): void {
  server.setRequestHandler("prompts/list", { params: listParams, result }, ({ cursor }, context) =>
    protocolErrors(async () => {
      const { page, ...next } = pageOf(await listSkills(clientFor(parts, context)), cursor);
      return { prompts: page.map(promptOf), ...next };
    }),
  );
  server.setRequestHandler(
    "prompts/get",
    { params: getParams, result },
    ({ name, arguments: given }, context) =>
      protocolErrors(async () => {
        const skill = (await listSkills(clientFor(parts, context))).find(({ id }) => id === name);
        if (!skill) throw new ProtocolError(ProtocolErrorCode.InvalidParams, "unknown prompt");
        const work = given?.["task"];
        if (!work)
          throw new ProtocolError(
            ProtocolErrorCode.InvalidParams,
            "task: the prompt needs a description of the work",
          );
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

const textOf = ({ id, name }: Skill, work: string) => {
  const input = JSON.stringify({ message: work, force_skills: [id] }, null, 1);
  return {
    type: "text" as const,
    text: `Call the tool task_create for the skill ${JSON.stringify(name)} with this input:\n${input}`,
  };
};
