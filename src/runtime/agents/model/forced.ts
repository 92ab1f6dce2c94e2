import type { Progress } from "../../agent.ts";
import type { Run } from "./run.ts";
import { useSkillName } from "./tools/use-skill.ts";
import { useTool } from "./use.ts";

/**
 * Invokes the skills that must be used (contract/v2.md 9.10) before the model is asked anything: so none is forgotten,
 * an event shows each, and the model begins with what they say. A run that is taken up again goes on behind them; what
 * was forced only meanwhile has a step of its own, so that no two uses have one id.
 */
export async function* invokeForced(run: Run): AsyncGenerator<Progress, void, void> {
  const { steps } = run.progress();
  const used = new Set(steps.flatMap(({ uses }) => uses.filter(({ tool }) => tool === useSkillName).map(({ input }) => input["skill"])));
  const left = run.turn.skills.filter(({ id, forced }) => forced && !used.has(id));
  for (const [index, { id }] of left.entries()) {
    const callId = run.callId({ step: steps.length + 1, place: index + 1 });
    yield* useTool(run, callId, { name: useSkillName, input: JSON.stringify({ skill: id }) });
  }
}
