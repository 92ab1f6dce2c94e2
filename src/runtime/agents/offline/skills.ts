import type { GivenSkill, Progress } from "../../agent.ts";

/** Invokes the skills that must be used: an event each shows it. */
export async function* invokeForced(skills: readonly GivenSkill[], nextActionId: () => string): AsyncGenerator<Progress, void, void> {
  for (const skill of skills) if (skill.forced) yield { events: [await invoked(skill, nextActionId())] };
}

async function invoked(skill: GivenSkill, actionId: string): Promise<Progress["events"][number]> {
  const { id, name } = skill;
  // A skill whose bytes are gone is told as a failed use, and the turn goes on.
  const files = await skill.list().catch(() => null);
  return {
    type: "tool_used",
    payload: {
      ...{ tool: "use_skill", actionId, status: files === null ? "error" : "success", brief: `Using the skill ${name}` },
      message: { action: "Using", param: name },
      params: { skill: id },
      result: files === null ? "The skill is gone." : { name, files: files.map(({ path }) => path).slice(0, 50) },
    },
  };
}

/** The skills at hand, for an answer; empty without any. */
export function namesOf(skills: readonly GivenSkill[]): string {
  if (skills.length === 0) return "";
  const names = skills.slice(0, 20).map(({ name, forced }) => (forced ? `${name} (used)` : name));
  return `Skills at hand: ${names.join(", ")}${skills.length > 20 ? " and more" : ""}.`;
}
