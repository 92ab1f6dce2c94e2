import type { NewEvent } from "../../../core/tasks/event.ts";
import type { Progress, Turn, TurnSkill } from "../../agent.ts";
import { toolUse } from "./run.ts";
import { itemsMax } from "./text.ts";

/**
 * Invokes forced skills, with one event each. A resumed turn repeats the written invocations. When it has
 * written other events, it invokes no more, so that its events stay the same even if its skills have changed.
 */
export async function* forcedSkills(
  { skills, written }: Turn,
  nextActionId: () => string,
): AsyncGenerator<Progress, void, void> {
  const used = new Set<string>();
  for (const event of written) {
    const skill = skillIn(event);
    if (skill === undefined) return;
    used.add(skill);
    nextActionId();
    yield { events: [event] };
  }
  for (const skill of skills)
    if (skill.forced && !used.has(skill.id)) yield await invoke(skill, nextActionId());
}

/** The skill that an event invokes; undefined for other events, also those of a directive. */
function skillIn(event: NewEvent): string | undefined {
  const skill =
    event.type === "tool_used" && event.payload.tool === "use_skill" && event.payload.params?.["skill"];
  return typeof skill === "string" ? skill : undefined;
}

async function invoke(skill: TurnSkill, actionId: string): Promise<Progress> {
  const { id, name } = skill;
  // A skill whose bytes are gone is a failed use, and the turn continues.
  const files = await skill.list().catch(() => null);
  const result =
    files === null ? "The skill is gone." : { name, files: files.map(({ path }) => path).slice(0, 50) };
  const use = {
    tool: "use_skill",
    actionId,
    brief: `Using the skill ${name}`,
    message: { action: "Using", param: name },
  };
  return toolUse({ ...use, status: files === null ? "error" : "success", params: { skill: id }, result });
}

/** The line of an answer with the available skills; empty without any. */
export function namesOf(skills: readonly TurnSkill[]): string {
  const names = skills.slice(0, itemsMax).map(({ name, forced }) => (forced ? `${name} (used)` : name));
  return names.length === 0
    ? ""
    : `Available skills: ${names.join(", ")}${skills.length > itemsMax ? " and more" : ""}.`;
}
