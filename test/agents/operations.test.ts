import type { JsonObject } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import type { Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { callerOf, refused as refusal, servedBy, wires } from "../wires/call.ts";

const shortcut = "agent-default-main_task";
const table = operationTable();
type Reason = Parameters<typeof refusal>[0];

/** The expected result of a call: a reason, or none where it succeeds. */
interface Expected {
  readonly more?: JsonObject;
  readonly refused?: Reason;
}

/**
 * What each operation on one task does with a task of an agent, in the order of the calls (spec/api.md 6, 8,
 * 9.11).
 */
const onTasks: Readonly<Record<string, Expected>> = {
  "task.sendMessage": { more: { message: { content: "[[forever]]" } } },
  "task.detail": {},
  "task.inspect": {},
  "task.update": { more: { title: "Errands" } },
  "task.listMessages": {},
  "task.confirmAction": { more: { event_id: "ev_none", input: { accept: true } }, refused: "not_found" },
  "task.watchUrl": {},
  "task.stop": {},
  "task.delete": { refused: "failed_precondition" },
};

const isOnTask = ({ name, method }: Operation): boolean =>
  name?.startsWith("task.") === true &&
  method.methodKind === "unary" &&
  method.input.field["taskId"] !== undefined;

test("every operation on one task has an expectation for an agent's task", () => {
  const names = table.all.filter(isOnTask).map(({ name }) => name);
  expect(names.toSorted()).toEqual(Object.keys(onTasks).toSorted());
});

describe.each(wires)("over %s", (wire) => {
  const rig = taskRig();
  let ben: Person;
  let subtask: string;
  beforeAll(async () => {
    ben = await rig.service.person();
    const { body } = await ben.v2("task.sendMessage", {
      task_id: shortcut,
      message: { content: "[[subtask Count]]" },
    });
    await rig.reach(body["task_id"], "stopped");
    const [{ id }] = (await ben.v2("task.list", { scope: "agent_subtask", agent_id: "agent-default" })).body[
      "data"
    ];
    subtask = id;
    await rig.reach(id, "stopped");
  });
  const served = new Map(servedBy(wire).map((operation) => [operation.name, operation]));
  async function expectCall(name: string, json: JsonObject, refused?: Reason): Promise<void> {
    const operation = served.get(name);
    if (!operation) return;
    const { outcome } = await callerOf(rig.service.url)(wire, operation, { headers: ben.headers, json });
    expect([name, json, outcome]).toEqual([
      name,
      json,
      refused === undefined ? "ok" : refusal(refused, wire),
    ]);
  }

  test.each([
    "its shortcut",
    "its id",
    "a subtask's id",
  ])("an agent's task can be controlled but not deleted, by %s", async (which) => {
    const main = (await ben.v2("task.detail", { task_id: shortcut })).body["task"].id;
    const task_id = { "its shortcut": shortcut, "its id": main, "a subtask's id": subtask }[which] ?? "";
    for (const [name, { more = {}, refused }] of Object.entries(onTasks))
      await expectCall(name, { task_id, ...more }, refused);
  });

  test.each<[string, JsonObject, Reason?]>([
    ["agent.list", {}],
    ["agent.detail", { agent_id: "agent-default" }],
    ["agent.detail", { agent_id: "agent-none" }, "not_found"],
    ["agent.update", { agent_id: "agent-default", about: "Errands" }],
    ["agent.update", { agent_id: "agent-none", about: "Errands" }, "not_found"],
    ["agent.update", { agent_id: "agent-default" }, "invalid_argument"],
    ["task.list", { scope: "agent_subtask", agent_id: "agent-default" }],
    ["task.list", { scope: "agent_subtask" }, "invalid_argument"],
  ])("%s %o", (name, json, refused) => expectCall(name, json, refused));
});
