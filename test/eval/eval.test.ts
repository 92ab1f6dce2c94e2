import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openPlatform, type Platform } from "../../eval/support/platform.ts";
import { runTask } from "../../eval/support/run.ts";
import { loadTasks } from "../../eval/support/task.ts";
import { modelsFile } from "../support/model/rig.ts";
import { openModelServer } from "../support/model/server.ts";
import { ownEnvironment } from "../support/server-process.ts";
import { lazy } from "./lazy.ts";
import { perfect } from "./perfect.ts";
import { playSolver, type Solver } from "./solver.ts";

const tasks = await loadTasks();
const model = await openModelServer("openai");
const file = modelsFile("openai", model, { context_tokens: 64_000, limits: { steps: 200 } });
let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform({ ...ownEnvironment(), ...file.env });
});
afterAll(async () => {
  await platform?.[Symbol.asyncDispose]();
  await model[Symbol.asyncDispose]();
  file[Symbol.dispose]();
});

describe("the 20 tasks of the evaluation", () => {
  test("have the numbers from 1 on, a title, and a solver", () => {
    expect(tasks.map(({ number }) => number)).toEqual(perfect.map((_, index) => index + 1));
    expect(tasks).toHaveLength(20);
    expect(tasks.filter(({ title, prompt }) => title === "" || prompt === "")).toEqual([]);
  });

  test.each(
    tasks,
  )("$number: a perfect solver passes, and one that claims without doing fails", async (task) => {
    const result = async (
      solve: (world: Parameters<(typeof perfect)[number]>[0]) => Solver | Promise<Solver>,
    ) =>
      runTask(task, platform, {
        pollMs: 20,
        begun: async (world) => model.play(playSolver(await solve(world))),
      });
    const make = perfect[task.number - 1];
    if (!make) throw new Error("this task has no solver");
    const { fault, steps, inputTokens } = await result(make);
    expect(fault).toBeNull();
    expect(steps).toBeGreaterThan(0);
    expect(inputTokens).toBeGreaterThan(0);
    expect((await result(() => lazy(task))).fault).not.toBeNull();
  });
});
