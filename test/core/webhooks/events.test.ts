import { expect, test } from "vitest";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import { ask, begin, fail, finish, queueMessage, resume, stop } from "../../../src/core/tasks/lifecycle.ts";
import { isTold, tellingsOf } from "../../../src/core/webhooks/events.ts";

const step = (title: string): NewEvent => ({ type: "new_plan_step", payload: { stepId: title, title } });
const plan: NewEvent = { type: "plan_update", payload: { steps: [{ status: "todo", title: "A" }] } };
const said: NewEvent = { type: "assistant_message", payload: { content: "Half way", deliveryKind: "progress" } };

test.each([
  ["a first message", begin("Hello")],
  ["a message to a task that runs", queueMessage("Hello").events],
  ["a message to a task that rests", resume("Hello", 1).events],
  ["what was said when the turn is followed by another at once", finish("Done").said],
  ["a plan without a new step", [plan]],
  ["what an agent says on its way", [said]],
  ["nothing", []],
])("%s tells nothing", (_, events) => {
  expect(tellingsOf(events, 1)).toEqual([]);
});

test("what was done last is told before the ending, each with its own number", () => {
  const events = [plan, step("A"), said, ...finish("Done").events];
  expect(tellingsOf(events, 7).map(({ type, seq }) => `${seq} ${type}`)).toEqual(["8 task_progress", "11 task_stopped"]);
});

test("the message of a finish is what was said last", () => {
  expect(tellingsOf([said, ...finish("The end").events], 1)).toEqual([
    { type: "task_stopped", seq: 3, message: "The end", stopReason: "finish" },
  ]);
});

test.each([
  ["finish", finish("x").events],
  ["ask", ask("x", [], null, "a").events],
  ["fail", fail("x", "x").events],
  ["stop", stop.events],
])("%s is told once", (_, events) => {
  expect(tellingsOf(events, 1)).toHaveLength(1);
});

test.each([
  { why: "made with a key", task: { apiKeyId: "k", clientId: null, type: "standard" }, told: true },
  { why: "made with a token", task: { apiKeyId: null, clientId: "c", type: "project" }, told: true },
  { why: "made on the web, or an agent's main task", task: { apiKeyId: null, clientId: null, type: "standard" }, told: false },
  { why: "a subtask", task: { apiKeyId: "k", clientId: null, type: "agent_subtask" }, told: false },
] as const)("a task $why: told $told", ({ task, told }) => {
  expect(isTold(task)).toBe(told);
});
