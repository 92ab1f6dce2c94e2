import { expect, test } from "vitest";
import type { NewEvent } from "../../../src/core/tasks/event.ts";
import {
  ask,
  fail,
  finish,
  firstEvents,
  queueMessage,
  resume,
  stop,
} from "../../../src/core/tasks/lifecycle.ts";
import { notificationsOf, notifiesWebhooks } from "../../../src/core/webhooks/notifications.ts";

const step = (title: string): NewEvent => ({ type: "new_plan_step", payload: { stepId: title, title } });
const plan: NewEvent = { type: "plan_update", payload: { steps: [{ status: "todo", title: "A" }] } };
const progress: NewEvent = {
  type: "assistant_message",
  payload: { content: "Half way", deliveryKind: "progress" },
};

test.each([
  ["a first message", firstEvents("Hello")],
  ["a message to a task that runs", queueMessage("Hello").events],
  ["a message to a task that rests", resume("Hello", 1).events],
  ["the text of a turn that another one follows immediately", finish("Done").messages],
  ["a plan without a new step", [plan]],
  ["a progress message of an agent", [progress]],
  ["nothing", []],
])("%s causes no notification", (_, events) => {
  expect(notificationsOf(events, 1)).toEqual([]);
});

test("the last progress precedes the ending, each with its own number", () => {
  const events = [plan, step("A"), progress, ...finish("Done").events];
  expect(notificationsOf(events, 7).map(({ type, seq }) => `${seq} ${type}`)).toEqual([
    "8 task_progress",
    "11 task_stopped",
  ]);
});

test("the message of a finish is the last text of the agent", () => {
  expect(notificationsOf([progress, ...finish("The end").events], 1)).toEqual([
    { type: "task_stopped", seq: 3, message: "The end", stopReason: "finish" },
  ]);
});

test.each([
  ["finish", finish("x").events],
  ["ask", ask("x", [], null, "a").events],
  ["fail", fail("x", "x").events],
  ["stop", stop.events],
])("%s causes one notification", (_, events) => {
  expect(notificationsOf(events, 1)).toHaveLength(1);
});

test.each([
  { why: "made with a key", task: { apiKeyId: "k", clientId: null, type: "standard" }, notifies: true },
  { why: "made with a token", task: { apiKeyId: null, clientId: "c", type: "project" }, notifies: true },
  {
    why: "made on the web, or an agent's main task",
    task: { apiKeyId: null, clientId: null, type: "standard" },
    notifies: false,
  },
  { why: "a subtask", task: { apiKeyId: "k", clientId: null, type: "agent_subtask" }, notifies: false },
] as const)("a task $why: notifies $notifies", ({ task, notifies }) => {
  expect(notifiesWebhooks(task)).toBe(notifies);
});
