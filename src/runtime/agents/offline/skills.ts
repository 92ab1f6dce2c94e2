import type { NewEvent } from "../../../core/tasks/event.ts";
import type { GivenSkill, Progress, Turn } from "../../agent.ts";

/**
 * Invokes the skills that must be used: an event each shows it. A turn that is resumed tells again what it has written,
 * and once it has written more it invokes none, so that its events stay the same whatever became of its skills meanwhile.
 */
export async function* invokeForced(
  { skills, written }: Pick<Turn, "skills" | "written">,
  nextActionId: () => string,
): AsyncGenerator<Progress, void, void> {
  const told = written.slice(0, invocationsIn(written));
  for (const event of told) {
    nextActionId();
    yield { events: [event] };
  }
  if (told.length < written.length) return;
  const used = new Set(told.map(skillIn));
  for (const skill of skills) if (skill.forced && !used.has(skill.id)) yield { events: [await invoked(skill, nextActionId())] };
}

/** The skill that an event shows the use of; the tool of a directive has none. */
const skillIn = (event: NewEvent): string | undefined => {
  const skill = event.type === "tool_used" && event.payload.tool === "use_skill" ? event.payload.params?.["skill"] : undefined;
  return typeof skill === "string" ? skill : undefined;
};

/** How many a turn begins with. */
function invocationsIn(written: readonly NewEvent[]): number {
  const other = written.findIndex((event) => skillIn(event) === undefined);
  return other < 0 ? written.length : other;
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
