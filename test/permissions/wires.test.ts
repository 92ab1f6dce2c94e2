import { expect, test } from "vitest";
import { envOf, runWith, testFolder } from "../cli/rig.ts";
import { v1Of } from "../http/v1/caller.ts";
import { mcpClient } from "../mcp/client.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";

const rig = taskRig();
const home = testFolder();
const atp = (...args: readonly string[]) =>
  runWith(home, rig.service, args, { env: envOf(rig.service, rig.ann) });
const [deny, ask, allow] = ["deny", "ask", "allow"].map((decision) => ({
  tool: "run_command",
  pattern: `${decision} *`,
  decision,
}));
const rules = async (id: string) => (await rig.row(id)).permissions;
const stored = [deny, ask, allow].map((rule) => ({ ...rule, eachTime: false }));

test("v1 takes permissions on create and change, in both spellings, and never answers with them", async () => {
  const call = v1Of(rig.service, rig.ann);
  const permissions = [
    { ...ask, eachTime: true },
    { tool: "connector.*", decision: "deny" },
  ];
  const { body } = await call("POST /v1/tasks", { prompt: "[[say hi]]", permissions });
  const id = body.task_id;
  expect(await rules(id)).toEqual([
    { ...ask, eachTime: true },
    { tool: "connector.*", pattern: "*", decision: "deny", eachTime: false },
  ]);
  const changed = await call(`PUT /v1/tasks/${id}`, { permissions: [deny, ask, allow] });
  expect(changed.body).toEqual({ task_id: id, task_title: "[[say hi]]", task_url: body.task_url });
  expect(await rules(id)).toEqual(stored);
  await call(`PUT /v1/tasks/${id}`, { clear_permissions: true });
  expect(await rules(id)).toEqual([]);
  for (const [faulty, says] of [
    [[{ decision: "deny" }], "permissions[0].tool: is required"],
    [[{ tool: "bash", decision: "maybe" }], "permissions[0].decision: must be one of allow, ask, deny"],
    [[{ tool: "b sh", decision: "deny" }], "permissions[0].tool: must be the name of a tool"],
    ["bash", "permissions: must be an array"],
  ] as const)
    expect((await call("POST /v1/tasks", { prompt: "x", permissions: faulty })).body.message).toMatch(says);
});

test("the command line sets rules, those that deny first, and approves an action for the rest of the task", async () => {
  const flags = [
    "--allow",
    "run_command:allow *",
    "--ask",
    "run_command:ask *",
    "--deny",
    "run_command:deny *",
  ];
  const { out } = await atp(
    "task",
    "create",
    "[[confirm terminalExecute]] [[confirm terminalExecute]]",
    ...flags,
  );
  const [id = ""] = out.split("\t");
  expect(await rules(id)).toEqual(stored);
  await rig.reach(id, "waiting");
  const { body } = await rig.ann.v2("task.detail", { task_id: id });
  const event = body["task"].status_detail.waiting_for_event_id;
  expect(await atp("task", "confirm", id, "--event", event, "--always")).toMatchObject({ code: 0 });
  await rig.reach(id, "stopped");
  await atp("task", "update", id, "--deny", "connector.*");
  expect(await rules(id)).toEqual([{ tool: "connector.*", pattern: "*", decision: "deny", eachTime: false }]);
  const { out: waits } = await atp("task", "create", "[[confirm gmailSendAction]]");
  const [other = ""] = waits.split("\t");
  await rig.reach(other, "waiting");
  const { body: mail } = await rig.ann.v2("task.detail", { task_id: other });
  const mailEvent = mail["task"].status_detail.waiting_for_event_id;
  expect(await atp("task", "confirm", other, "--event", mailEvent, "--always")).toMatchObject({
    code: 1,
    err: expect.stringContaining("gmailSendAction is approved each time: give --accept"),
  });
  expect(await atp("task", "create", "x", "--allow", ":git")).toMatchObject({
    code: 2,
    err: expect.stringContaining("--allow: must be TOOL[:PATTERN]"),
  });
});

test("MCP takes permissions, and grants with approve:task alone", async () => {
  const create = async (scopes: readonly ("create_task" | "approve:task")[], rule: object) => {
    const { headers } = await tokenOf(rig.service, rig.ann, { scopes, forMcp: true });
    const client = await mcpClient(rig.service.url, { headers });
    const { content } = await client.callTool({
      name: "task_create",
      arguments: { message: "[[say hi]]", permissions: [rule] },
    });
    await client.close();
    return JSON.stringify(content);
  };
  expect(await create(["create_task"], allow ?? {})).toContain(
    "permissions[0].decision: allow needs the right",
  );
  expect(await create(["create_task"], deny ?? {})).toContain("hi");
  expect(await create(["create_task", "approve:task"], allow ?? {})).toContain("hi");
});
