import type { Progress, Turn } from "../../agent.ts";
import type { Run } from "./run.ts";
import { useSkillName } from "./tools/use-skill.ts";
import { useTool } from "./use.ts";

/**
 * Invokes the skills that must be used (contract/v2.md 9.10) before the model is asked anything: so none is forgotten,
 * an event shows each, and the model begins with what they say. A run that is taken up again goes on behind them.
 */
export async function* invokeForced(run: Run): AsyncGenerator<Progress, void, void> {
  const used = new Set(
    run.progress().steps.flatMap(({ uses }) => uses.filter(({ tool }) => tool === useSkillName).map(({ input }) => input["skill"])),
  );
  for (const [index, { id }] of forcedOf(run.turn).entries()) {
    if (used.has(id)) continue;
    yield* useTool(run, run.callId({ step: 1, place: index + 1 }), { name: useSkillName, input: JSON.stringify({ skill: id }) });
  }
}

const forcedOf = ({ skills }: Turn) => skills.filter(({ forced }) => forced);
