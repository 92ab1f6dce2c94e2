import { describe, expect, test } from "vitest";
import { Failure } from "../../../src/core/failure.ts";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import type { Turn, TurnSkill } from "../../../src/runtime/agent.ts";
import { skillTools } from "../../../src/runtime/agents/model/tools/skill.ts";
import type { Script } from "../../support/model/script.ts";
import { modelApis, openModelServer } from "../../support/model/server.ts";
import { configOf, runModel, type Stored } from "./model-run.ts";

const files: Readonly<Record<string, string>> = {
  "SKILL.md": "Begin with who was there.",
  "list.txt": `${"x".repeat(60_000)}end`,
  "picture.png": "\0",
};

const skill = (id: string, name: string, forced = false): TurnSkill => ({
  ...{ id, name, description: `What ${name} is for.`, forced },
  list: async () => Object.entries(files).map(([path, text]) => ({ path, bytes: text.length })),
  async read(path) {
    const text = files[path];
    if (text === undefined) throw new Failure("not_found", "file of the skill not found");
    return Buffer.from(text);
  },
});
const skills = [skill("f1", "Minutes", true), skill("f2", "Tea", true), skill("o1", "Other")];

const usesIn = (events: readonly NewEvent[]) =>
  events.flatMap((event) =>
    event.type === "tool_used" ? [[event.payload.status, event.payload.params, event.payload.result]] : [],
  );

describe.each(modelApis)("skills of a model (%s)", (api) => {
  async function run(
    script: Script,
    turn: Partial<Pick<Turn, "skills" | "number">> = {},
    stored: Partial<Stored> = {},
  ) {
    await using server = await openModelServer(api, script);
    const runResult = await runModel({
      config: configOf(api, server),
      tools: skillTools({ skills, ...turn } as Turn),
      turn: { skills, ...turn },
      stored,
    });
    return { ...runResult, requests: [...server.requests] };
  }

  test("that are forced are invoked before the first model call, once each, and all are listed for it as data", async () => {
    const { events, outcome, requests } = await run([{ text: "Done." }], {});
    expect(outcome).toMatchObject({ kind: "finish", content: "Done." });
    const content = { path: "SKILL.md", text: "Begin with who was there." };
    expect(usesIn(events)).toMatchObject([
      ["success", { skill: "f1" }, { skill: "Minutes", ...content }],
      ["success", { skill: "f2" }, { skill: "Tea", ...content }],
    ]);
    expect(requests).toHaveLength(1);
    const [system, message] = requests[0]?.messages ?? [];
    expect(system?.text).toMatch(
      /<data-\w+>\n\[{"id":"f1","name":"Minutes","description":"What Minutes is for."}/,
    );
    expect(system?.text).toContain('{"id":"o1","name":"Other","description":"What Other is for."}');
    expect(message?.text.split("Begin with who was there.")).toHaveLength(3);
    expect(message?.text.split("A skill that the user has chosen for this task.")).toHaveLength(3);
  });

  test("that a lost run has invoked are not invoked again", async () => {
    const first = await run([{ text: "Done." }]);
    const again = await run([{ text: "Done." }], {}, first.states[0]);
    expect(again.events).toEqual(first.events);
  });

  test("that are forced again show an event in each turn, but their content is not repeated", async () => {
    const first = await run([{ text: "Done." }]);
    const next = await run([{ text: "Done." }], { number: 200 }, { rows: first.rows });
    expect(usesIn(next.events)).toEqual(usesIn(first.events));
    expect(JSON.stringify(next.requests[0]?.messages).split("Begin with who was there.")).toHaveLength(3);
  });

  test("whose bytes are missing are reported as a failed use, to the user and to the model, and the turn continues", async () => {
    const gone = () => Promise.reject(new Failure("not_found", "file not found"));
    const { events, outcome, requests } = await run([{ text: "Done." }], {
      skills: [{ ...skill("f1", "Minutes", true), list: gone, read: gone }],
    });
    expect(usesIn(events)).toEqual([["error", { skill: "f1" }, "The skill is gone."]]);
    expect(outcome).toMatchObject({ kind: "finish", content: "Done." });
    expect(requests[0]?.messages.at(-1)?.text).toContain("The skill is gone.");
  });

  test("are loaded when the model requests them, by id or name, file by file, within limits", async () => {
    const calls = [
      { skill: "o1" },
      { skill: "Other", path: "list.txt" },
      { skill: "o1", path: "list.txt", offset: 60_000 },
      { skill: "o1", path: "../SKILL.md" },
      { skill: "o1", path: "picture.png" },
      { skill: "nobody's" },
    ].map((input) => ({ name: "skill", input }));
    const { events } = await run([{ calls }, { text: "Done." }], { skills: [skill("o1", "Other")] });
    const results = usesIn(events).map(([status, , result]) => [status, result]);
    expect(results).toMatchObject([
      ["success", { skill: "Other", files: expect.arrayContaining([{ path: "list.txt", bytes: 60_003 }]) }],
      ["success", expect.anything()],
      ["success", { text: "end" }],
      ["error", "The skill has no such file."],
      ["error", "This file is not text."],
      ["error", "There is no such skill."],
    ]);
    expect(JSON.stringify(results[1])).toContain("x".repeat(1_000));
  });

  test("are absent for a task without any: no tool and no mention", async () => {
    const { requests } = await run([{ text: "Done." }], { skills: [] });
    expect(requests[0]?.tools).not.toContain("skill");
    expect(requests[0]?.messages[0]?.text).not.toContain("skill");
  });
});
