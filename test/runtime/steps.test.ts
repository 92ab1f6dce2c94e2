import { getEventListeners } from "node:events";
import { setImmediate as turn } from "node:timers/promises";
import { beforeEach, describe, expect, test } from "vitest";
import type { Log } from "../../src/core/log.ts";
import type { Agent, Turn } from "../../src/runtime/agent.ts";
import { agentSteps, RunLost } from "../../src/runtime/steps.ts";
import { agentThought } from "../store/samples.ts";
import { turnWithoutFiles } from "../support/agent-files.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";

const finishOutcome = { kind: "finish", content: "Done" } as const;
const never = () => new Promise<never>(() => undefined);

let clock: StillClock;
let abort: AbortController;
let logged: string[];

beforeEach(() => {
  clock = stillClock();
  abort = new AbortController();
  logged = [];
});

const log: Log = (level, text, fields) => void logged.push(`${level}: ${text} ${String(fields?.["taskId"])}`);

function stepsFor(agent: Agent) {
  const abortableTurn: Turn = {
    ...{
      taskId: "t1",
      title: "",
      locale: "en",
      profile: "manus-1.6",
      instruction: "",
      projectInstruction: "",
      number: 1,
      transcript: async () => [],
      person: async () => ({ name: null, timeZone: "UTC" }),
      interactive: false,
      earlier: [],
      messages: ["Hi"],
      ...turnWithoutFiles,
      memo: null,
      decisions: [],
      allowed: [],
      written: [],
      outputSchema: null,
      connectors: [],
      owner: { accountId: "ann", spaceId: "north", clientId: null },
      reserve: async () => ({ id: "", credits: 0 }),
      claim: 1,
    },
    clock,
    signal: abort.signal,
  };
  return agentSteps(agent, abortableTurn, { clock, log });
}

/** Whether a promise has settled; no time passes. */
async function settled(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => (done = true),
    () => (done = true),
  );
  for (let turns = 0; turns < 5; turns += 1) await turn();
  return done;
}

describe("an aborted run", () => {
  test("stops waiting for its agent at once, also when the agent never ends", async () => {
    const steps = stepsFor(async function* () {
      yield { events: [agentThought()] };
      return never();
    });
    await steps.next();
    const next = steps.next();
    abort.abort();
    await expect(next).rejects.toThrow(RunLost);
    await expect(steps.next(), "and requests no more steps").rejects.toThrow(RunLost);
  });

  test("wakes a sleeping agent, which cleans up before the run has ended", async () => {
    const done: string[] = [];
    const steps = stepsFor(async function* (abortableTurn) {
      try {
        await abortableTurn.clock.sleep(86_400_000, abortableTurn.signal);
      } finally {
        done.push("cleaned up");
      }
      return finishOutcome;
    });
    const next = steps.next();
    abort.abort();
    await expect(next).rejects.toThrow(RunLost);
    await steps.close();
    expect(done).toEqual(["cleaned up"]);
    expect(logged).toEqual([]);
  });

  test("lets an agent between two steps clean up", async () => {
    const done: string[] = [];
    const steps = stepsFor(async function* () {
      try {
        yield { events: [agentThought()] };
        done.push("went on");
      } finally {
        done.push("cleaned up");
      }
      return finishOutcome;
    });
    await steps.next();
    abort.abort();
    await steps.close();
    expect(done).toEqual(["cleaned up"]);
  });

  test("gives an agent 5 s to clean up and then leaves it", async () => {
    const steps = stepsFor(async function* () {
      await never();
      return finishOutcome;
    });
    const next = steps.next();
    abort.abort();
    await expect(next).rejects.toThrow(RunLost);
    const closed = steps.close();
    await clock.advance(4_999);
    expect(await settled(closed)).toBe(false);
    await clock.advance(1);
    expect(await settled(closed)).toBe(true);
    expect(logged).toEqual(["warn: an agent did not clean up in time t1"]);
  });

  test("leaves no timer of the time that its agent did not need", async () => {
    let sleeping = 0;
    const { sleep } = clock;
    clock.sleep = (ms, signal) => {
      sleeping += 1;
      return sleep(ms, signal).finally(() => (sleeping -= 1));
    };
    const steps = stepsFor(async function* () {
      yield { events: [agentThought()] };
      return finishOutcome;
    });
    await steps.next();
    abort.abort();
    await steps.close();
    await turn();
    expect(sleeping).toBe(0);
  });

  test("ignores later errors of its agent", async () => {
    const steps = stepsFor(async function* (abortableTurn) {
      if (!abortableTurn.signal.aborted)
        await new Promise((resolve) => abortableTurn.signal.addEventListener("abort", resolve));
      throw new Error("torn down");
    });
    const next = steps.next();
    abort.abort();
    await expect(next).rejects.toThrow(RunLost);
    await steps.close();
    expect(logged).toEqual([]);
  });

  test("does not begin if it was aborted before", async () => {
    let begun = false;
    const steps = stepsFor(async function* () {
      begun = true;
      return finishOutcome;
    });
    abort.abort();
    await expect(steps.next()).rejects.toThrow(RunLost);
    await steps.close();
    expect(begun).toBe(false);
  });
});

test("an agent that throws has failed with `internal`, and its text stays in the log", async () => {
  const steps = stepsFor(async function* () {
    throw new Error("password is hunter2");
  });
  const { done, value } = await steps.next();
  expect({ done, value }).toEqual({
    done: true,
    value: { kind: "fail", errorType: "internal", content: "The agent failed." },
  });
  expect(logged).toEqual(["error: an agent failed t1"]);
});

test("a run of many steps leaves no listener with each", async () => {
  const steps = stepsFor(async function* () {
    for (let i = 0; i < 500; i += 1) yield { events: [agentThought()] };
    return finishOutcome;
  });
  while (!(await steps.next()).done);
  expect(getEventListeners(abort.signal, "abort")).toEqual([]);
});
