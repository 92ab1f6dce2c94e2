import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sandboxUser } from "../../support/model/sandbox-user.ts";
import { type ToolRig, toolRig, type Use } from "../../support/model/tool-rig.ts";
import type { V2Body } from "../../support/wires.ts";

const installation = [
  { tool: "bash", pattern: "forbidden*", decision: "deny" },
  { tool: "bash", pattern: "careful*", decision: "ask", each_time: true },
];
const rig: ToolRig = await toolRig(
  {
    env: {
      SANDBOX_COMMAND: `${resolve("test/support/model/sandbox.sh")} /dev/null {workspace}`,
      ...sandboxUser,
      FETCH_ALLOW: "loopback",
      PERMISSIONS: JSON.stringify(installation),
    },
  },
  { fetch: "default" },
);
const page = createServer((_, response) => response.end("A page."));
let site = "";
beforeAll(async () => {
  await new Promise<void>((opened) => page.listen(0, "127.0.0.1", opened));
  site = `http://127.0.0.1:${(page.address() as AddressInfo).port}`;
});
afterAll(() => page.close());

const use = (name: string, input = {}): Use => ({ name, input });
const run = (command: string) => use("run_command", { command });
const write = (path: string) => use("write", { path, content: "x" });
const rule = (tool: string, decision: string, pattern = "*") => ({ tool, pattern, decision });

/** The uses that have ended, as their events show them. */
const ended = async (id: string): Promise<readonly V2Body[]> =>
  (await rig.events(id)).flatMap(({ tool_used: used }) =>
    used && used["status"] !== "pending_confirmation" && used["params"] !== undefined ? [used] : [],
  );

const waitOf = async (id: string): Promise<V2Body> =>
  (await rig.events(id)).findLast(({ status_update: status }) => status?.["agent_status"] === "waiting")?.[
    "status_update"
  ]["status_detail"];

async function decide(id: string, input: object): Promise<V2Body> {
  await rig.reach(id, "waiting");
  const detail = await waitOf(id);
  const { body } = await rig.ann.v2("task.confirmAction", {
    task_id: id,
    event_id: detail["waiting_for_event_id"],
    input,
  });
  expect(body.ok).toBe(true);
  return detail;
}

const detailOf = async (id: string): Promise<V2Body> =>
  (await rig.ann.v2("task.detail", { task_id: id })).body;

describe("a task with permissions", () => {
  test("works without a person where its rules allow it, and its events name the rule", async () => {
    const permissions = [rule("bash", "allow", "echo *")];
    const id = await rig.uses([run("echo a"), run("echo b")], "Echo", { permissions });
    expect(await ended(id)).toMatchObject(
      ["echo a", "echo b"].map((command) => ({
        params: { command },
        status: "success",
        allowed_by: "task: bash echo *",
      })),
    );
  });

  test("waits for a command that a pattern leaves open, because another command follows", async () => {
    rig.plays(run("echo a; true"));
    const id = await rig.create("Echo", { permissions: [rule("bash", "allow", "echo *")] });
    expect((await decide(id, { accept: true }))["waiting_for_event_type"]).toBe("terminalExecute");
    await rig.reach(id, "stopped");
    const [used] = (await ended(id)).filter(({ tool }) => tool === "run_command");
    expect(used).toMatchObject({ status: "success" });
    expect(used).not.toHaveProperty("allowed_by");
  });

  test("is refused what a rule denies, and the model is given the rule", async () => {
    const id = await rig.uses([run("forbidden"), write("a.txt")], "Try", {
      permissions: [rule("*", "allow")],
    });
    expect(await ended(id)).toMatchObject([
      { status: "error", result: expect.stringContaining("A rule denies this: bash forbidden*") },
      { status: "success", allowed_by: "task: * *" },
    ]);
  });

  test("is refused a path that a rule denies, in each spelling of it", async () => {
    const paths = ["secret/key.txt", "secret//key.txt", "./secret/./key.txt"];
    const id = await rig.uses(paths.map(write), "Try", {
      permissions: [rule("write", "deny", "secret/key.txt")],
    });
    expect((await ended(id)).map(({ status, result }) => [status, result])).toEqual(
      paths.map(() => ["error", expect.stringContaining("A rule denies this")]),
    );
  });

  test("is refused a change of a path that a rule for write denies, by each tool that changes files", async () => {
    const uses = [
      use("edit", { path: "secret/a.txt", old: "x", new: "y" }),
      use("delete", { path: "secret/a.txt" }),
      use("web_fetch", { url: `${site}/`, save_as: "./secret/a.txt" }),
      use("web_fetch", { url: `${site}/`, save_as: "b.txt" }),
      use("read", { path: "secret/a.txt" }),
    ];
    // An allow for all tools does not shadow it.
    const permissions = [rule("write", "deny", "secret/*"), rule("*", "allow")];
    const denied = { status: "error", result: expect.stringContaining("A rule denies this: write secret/*") };
    expect(await ended(await rig.uses(uses, "Try", { permissions }))).toMatchObject([
      ...[denied, denied, denied],
      { status: "success" },
      { status: "error", result: "file not found" },
    ]);
  });

  test("asks as write for what a fetch saves, and always allowed it saves, but fetches no other host", async () => {
    const fetch = (name: string) => use("web_fetch", { url: `${site}/`, save_as: name });
    rig.plays(fetch("a.txt"), fetch("b.txt"));
    const id = await rig.create(`Save ${site}/`, { permissions: [rule("write", "ask")] });
    expect(await decide(id, { accept: true, always_allow: true })).toMatchObject({
      waiting_for_event_type: "agentToolAction",
    });
    await rig.reach(id, "stopped");
    const fetched = (await ended(id)).filter(({ tool }) => tool === "web_fetch");
    expect(fetched.map(({ status }) => status)).toEqual(["success", "success"]);
    expect((await rig.row(id)).allowed).toEqual(["agentToolAction write"]);
  });

  test("asks once for all tools of an ask for every one, and as write for an ask for write", async () => {
    const change = (name: string) => [
      write(name),
      use("edit", { path: name, old: "x", new: "y" }),
      use("delete", { path: name }),
    ];
    const always = { accept: true, always_allow: true };
    const allowedAfter = async (permission: object, asks: number) => {
      rig.plays(...change("a.txt"), ...change("b.txt"));
      const id = await rig.create("Change", { permissions: [permission] });
      for (let n = 0; n < asks; n += 1) await decide(id, always);
      await rig.reach(id, "stopped");
      expect((await ended(id)).filter(({ status }) => status === "success")).toHaveLength(6);
      return (await rig.row(id)).allowed;
    };
    const names = (...tools: readonly string[]) => tools.map((tool) => `agentToolAction ${tool}`);
    expect(await allowedAfter(rule("*", "ask"), 3)).toEqual(names("write", "edit", "delete"));
    expect(await allowedAfter(rule("write", "ask"), 1)).toEqual(names("write"));
  });

  test("asks each time where the installation wants it, although the task and a person always allow it", async () => {
    rig.plays(run("careful 1"), run("careful 2"));
    const id = await rig.create("Careful", { permissions: [rule("bash", "allow")] });
    await decide(id, { accept: true, always_allow: true });
    const second = await decide(id, { accept: true });
    expect(second["waiting_description"]).toContain("careful 2");
    await rig.reach(id, "stopped");
    const used = (await ended(id)).filter(({ tool }) => tool === "run_command");
    expect(used.map(({ allowed_by: by }) => by)).toEqual([undefined, undefined]);
  });
});

describe("a tool without a separate kind", () => {
  test("waits with agentToolAction and its input, and asks no more once it is always allowed", async () => {
    rig.plays(write("a.txt"), write("b.txt"), write("secret/c.txt"));
    const permissions = [rule("write", "deny", "secret/*"), rule("write", "ask")];
    const id = await rig.create("Write", { permissions });
    const detail = await decide(id, { accept: true, always_allow: true });
    expect(detail).toMatchObject({
      waiting_for_event_type: "agentToolAction",
      confirm_input_schema: {
        properties: { accept: { type: "boolean" }, always_allow: { type: "boolean" } },
      },
    });
    await rig.reach(id, "stopped");
    const asked = (await rig.events(id)).find(({ id: event }) => event === detail["waiting_for_event_id"]);
    expect(asked?.["tool_used"]).toMatchObject({
      tool: "write",
      params: { path: "a.txt", content: "x" },
    });
    expect(await ended(id)).toMatchObject([
      { params: { path: "a.txt" }, status: "success" },
      { params: { path: "b.txt" }, status: "success", allowed_by: "task: write *" },
      { params: { path: "secret/c.txt" }, status: "error" },
    ]);
    expect((await detailOf(id))["permissions"].at(-1)).toMatchObject({
      rules: [
        { tool: "write", pattern: "secret/*", decision: "deny" },
        { tool: "write", pattern: "*", decision: "allow" },
        { tool: "write", pattern: "*", decision: "ask" },
        { tool: "write", pattern: "*", decision: "allow" },
      ],
    });
  });
});

test("a rule that is tightened while a use waits holds for it: nothing answers a deny", async () => {
  rig.plays(run("date"));
  const id = await rig.create("Date");
  await rig.reach(id, "waiting");
  const { body } = await rig.ann.v2("task.update", { task_id: id, permissions: [rule("bash", "deny")] });
  expect(body.ok).toBe(true);
  await decide(id, { accept: true });
  await rig.reach(id, "stopped");
  expect((await ended(id)).filter(({ tool }) => tool === "run_command")).toMatchObject([
    { status: "error", result: expect.stringContaining("A rule denies this") },
  ]);
});

test("a subtask has at most its parent's rights, and keeps what the parent may do", async () => {
  rig.server.play(({ messages }) => {
    const isChild = messages.some(({ role, text }) => role === "user" && text.startsWith("Child"));
    const uses = messages.filter(({ role }) => role === "tool").length;
    const call = (isChild ? [run("echo a"), run("date")] : [use("subagent", { prompt: "Child" })])[uses];
    return call ? { calls: [call] } : { text: "Done." };
  });
  const permissions = [rule("bash", "allow", "echo *"), rule("bash", "deny")];
  const id = await rig.runToEnd("Parent", { permissions });
  const started = (await ended(id)).find(({ tool }) => tool === "subagent");
  const child = started?.["result"]["task_id"];
  await rig.reach(child, "stopped");
  expect(await ended(child)).toMatchObject([
    { params: { command: "echo a" }, status: "success", allowed_by: "task: bash echo *" },
    { params: { command: "date" }, status: "error" },
  ]);
});

describe("an address", () => {
  test("is free for a task that allows its host; without a rule the task asks, and fetches nothing", async () => {
    const fetch = () => use("web_fetch", { url: `${site}/data?d=1` });
    const id = await rig.uses([fetch()], "Fetch", {
      permissions: [rule("web_fetch", "allow", "127.0.0.*")],
    });
    expect(await ended(id)).toMatchObject([{ status: "success", allowed_by: "task: web_fetch 127.0.0.*" }]);
    rig.plays(fetch());
    const other = await rig.create("Fetch");
    const detail = await decide(other, { accept: false });
    expect(detail["waiting_for_event_type"]).toBe("fetchUrl");
    await rig.reach(other, "stopped");
    expect([(await detailOf(id))["untrusted"], (await detailOf(other))["untrusted"]]).toEqual([
      true,
      undefined,
    ]);
  });

  test("that the user has named needs no approval, unless a rule denies it", async () => {
    const content = `Read ${site}/`;
    const fetch = () => use("web_fetch", { url: `${site}/` });
    const id = await rig.uses([fetch()], content, { permissions: [rule("web_fetch", "ask")] });
    expect(await ended(id)).toMatchObject([{ status: "success" }]);
    const other = await rig.uses([fetch()], content, { permissions: [rule("web_fetch", "deny")] });
    expect(await ended(other)).toMatchObject([{ status: "error" }]);
    expect((await detailOf(other))["untrusted"]).toBeUndefined();
  });
});
