import type { Hold, Turn } from "./agent.ts";

/** This process drains: the run ends before its next call of a model, and another process continues it. */
export class RunDrained extends Error {}

/**
 * The calls of a model in one run. A drain lets the run continue until the events that depend on the current
 * call are written, because a repeated call costs the same again and gives another answer.
 */
export interface ModelCalls {
  /** True once the run has begun a call. */
  hasBegun(): boolean;
  /**
   * A reservation that begins a call when it is for tokens. It throws RunDrained in a drain, when the last
   * call is settled.
   */
  guard(reserve: Turn["reserve"]): Turn["reserve"];
  /** Call it with the holds of events that the agent has yielded. */
  settle(holds: readonly Hold[]): void;
}

/** @param draining aborted when the process drains. */
export function modelCalls(draining: AbortSignal): ModelCalls {
  const open = new Set<Hold>();
  let hasBegun = false;
  return {
    hasBegun: () => hasBegun,
    guard: (reserve) => async (atMost) => {
      if (atMost.inputTokens + atMost.outputTokens === 0) return reserve(atMost);
      if (draining.aborted && open.size === 0) throw new RunDrained();
      const hold = await reserve(atMost);
      open.add(hold);
      hasBegun = true;
      return hold;
    },
    settle(holds) {
      for (const hold of holds) open.delete(hold);
    },
  };
}
