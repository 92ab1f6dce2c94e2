import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { germanOf } from "../../console/src/task/server-texts.ts";
import { kinds } from "../../src/core/actions/kind.ts";
import { endBrief, waitBrief } from "../../src/core/tasks/subtask-wait.ts";

const lifecycle = readFileSync("src/core/tasks/lifecycle.ts", "utf8");
const states = [...lifecycle.matchAll(/status\("\w+", (.*?)\)/g)].flatMap(([, texts = ""]) => [
  ...texts.matchAll(/"([^"]+)"/g),
]);
const ended = { id: "a", title: "", status: "stopped", lastSeq: 1 } as const;

test.each([
  ...Object.values(kinds).map(({ description }) => description),
  ...states.map(([, text = ""]) => text),
  ...(["all", "any"] as const).flatMap((mode) =>
    [["a"], ["a", "b"]].map((subtasks) => waitBrief({ mode, subtasks })),
  ),
  ...(["ended", "message", "timeout"] as const).map((reason) => endBrief(reason, [ended])),
  "Use send_email of Mail.",
])("the server's text %j has a German one", (text) => {
  expect(germanOf(text)).toMatch(/^\p{Lu}|^send_email/u);
  expect(germanOf(text)).not.toBe(text);
});

test("the states of a task are found in its rules", () => expect(states.length).toBeGreaterThan(4));

test.each([
  "Read the report",
  "Use what you like. Then stop.",
  "waits for 2 subtasks",
])("a text of an agent stays: %j", (text) => {
  expect(germanOf(text)).toBeNull();
});
