import { expect, test } from "vitest";
import { AgentProfileService } from "../../src/gen/proto/agent/v2/agent_profile_service_pb.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { PermissionDecision } from "../../src/gen/proto/task/v2/permission_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import type { Calling, Person } from "../support/service.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";

const allow = { tool: "run_command", pattern: "git *", decision: "allow" };
const ask = { tool: "run_command", pattern: "*", decision: "ask" };
const deny = { tool: "connector.*", pattern: "delete_*", decision: "deny" };
const message = { content: "Say hello" };
/** As answers have it. */
const shown = (rule: object) => ({ each_time: false, ...rule });
const right =
  "needs the right to decide approvals: a session of a person who is not a guest, an API key with task:approve, or a token with approve:task";
const projectWide = ["task:write", "task:read", "project:write", "schedule:write", "agent:write"] as const;

describeOnOne("who may set permissions", (database) => {
  const rig = taskRig({ database, idle: true });
  const limited = (scopes: readonly string[] = [], who: Person = rig.ann) =>
    rig.service.person({
      as: who,
      with: who,
      // Safe cast: scopes of keys.
      restrictions: { scopes: [...projectWide, "connector:use", ...scopes] as never },
    });
  const outcome = async (who: Pick<Calling, "v2">, name: string, body: object): Promise<string> => {
    const { status, body: answer } = await who.v2(name, body);
    return status === 200 ? "done" : `${status} ${answer["error"]?.code}: ${answer["error"]?.message}`;
  };
  const detail = async (task_id: string) => (await rig.ann.v2("task.detail", { task_id })).body;

  test("an allow needs the right to decide approvals, and the refusal names field and rule (spec/api.md 9.15)", async () => {
    const guest = await rig.service.person({ with: rig.ann, role: "guest" });
    const tokens = { scopes: ["create_task"] } as const;
    const approving = { scopes: ["create_task", "approve:task"] } as const;
    const refused = `403 permission_denied: permissions[1].decision: allow ${right}`;
    const callers: readonly (readonly [Pick<Calling, "v2">, string])[] = [
      [rig.ann, "done"],
      [await limited(["task:approve"]), "done"],
      [await limited(), refused],
      [guest, refused],
      [await tokenOf(rig.service, rig.ann, tokens), refused],
      [await tokenOf(rig.service, rig.ann, approving), "done"],
    ];
    for (const [who, expected] of callers) {
      expect(await outcome(who, "task.create", { message, permissions: [deny, allow] })).toBe(expected);
      expect(await outcome(who, "task.create", { message, permissions: [deny, ask] })).toBe("done");
    }
    const { client } = await rig.ann.session();
    const { taskId } = await client(TaskService).createTask({
      message: { content: [{ type: 1, text: "Hello" }] },
      permissions: [{ tool: "run_command", decision: PermissionDecision.ALLOW }],
    });
    expect((await rig.row(taskId)).permissions).toEqual([
      { tool: "run_command", pattern: "*", decision: "allow", eachTime: false },
    ]);
  });

  test("without the right a caller only adds stricter rules before the present ones, also while the task runs", async () => {
    const key = await limited();
    const task_id = await rig.create("[[forever]]", { permissions: [allow, ask] });
    const set = (permissions: readonly object[]) => outcome(key, "task.update", { task_id, permissions });
    expect(await set([deny, allow, ask])).toBe("done");
    const change = `403 permission_denied: permissions: to change or remove a rule that is set ${right}`;
    expect(await set([allow, ask])).toBe(change);
    expect(await set([{ ...deny, pattern: "*" }, allow, ask])).toBe(change);
    expect(await set([allow, deny, allow, ask])).toBe(
      `403 permission_denied: permissions[0].decision: allow ${right}`,
    );
    expect(await set([ask, deny, allow, ask])).toBe(
      `403 permission_denied: permissions[0].decision: ask before a stricter rule ${right}`,
    );
    expect(await outcome(key, "task.update", { task_id, clear_permissions: true })).toBe(change);
    expect((await detail(task_id))["permissions"]).toEqual([
      { source: "task", rules: [deny, allow, ask].map(shown) },
    ]);
    expect(await outcome(rig.ann, "task.update", { task_id, clear_permissions: true })).toBe("done");
    expect(await detail(task_id)).not.toHaveProperty("permissions");
  });

  test("new rules replace what was always allowed in the task", async () => {
    const id = await rig.create();
    await rig.service.store.change((tx) =>
      tx.tasks.advance(id, { now: Date.now(), set: { allowed: ["terminalExecute"] } }),
    );
    await rig.ann.v2("task.update", { task_id: id, title: "Kept" });
    expect(await rig.row(id)).toMatchObject({ allowed: ["terminalExecute"] });
    await rig.ann.v2("task.update", { task_id: id, permissions: [deny] });
    expect(await rig.row(id)).toMatchObject({ allowed: [], title: "Kept" });
  });

  test("a project and a profile have rules under the same rule, and the detail shows all levels", async () => {
    const { body } = await rig.ann.v2("project.create", { name: "Post" });
    const project_id = body["project"].id;
    expect(body["project"]).not.toHaveProperty("permissions");
    const key = await limited();
    const profile = { agent_profile: "manus-1.6-max" };
    for (const [name, object] of [
      ["project.update", { project_id }],
      ["agentProfile.update", profile],
    ] as const) {
      expect(await outcome(key, name, { ...object, permissions: [allow] })).toBe(
        `403 permission_denied: permissions[0].decision: allow ${right}`,
      );
      expect(await outcome(key, name, { ...object, permissions: [deny] })).toBe("done");
      expect(await outcome(key, name, { ...object, clear_permissions: true })).toMatch(
        "permissions: to change or remove",
      );
    }
    await rig.ann.v2("project.update", { project_id, permissions: [ask, deny] });
    const id = await rig.create("Hello", { project_id, ...profile, permissions: [allow] });
    expect((await detail(id))["permissions"]).toEqual([
      { source: "profile", rules: [shown(deny)] },
      { source: "project", rules: [ask, deny].map(shown) },
      { source: "task", rules: [shown(allow)] },
    ]);
    const { client } = await rig.ann.session();
    await client(ProjectService).updateProject({ projectId: project_id, clearPermissions: true });
    await client(AgentProfileService).updateAgentProfile({
      agentProfile: "manus-1.6-max",
      clearPermissions: true,
    });
    expect((await detail(id))["permissions"]).toEqual([{ source: "task", rules: [shown(allow)] }]);
  });

  test("a task loses the rules of its project only by a caller with the right: in a move, or with the project", async () => {
    const key = await limited();
    const { body } = await rig.ann.v2("project.create", { name: "Post" });
    const [project_id, other] = [
      body["project"].id,
      (await rig.ann.v2("project.create", { name: "Other" })).body,
    ];
    const task_id = await rig.create("Hello", { project_id });
    const moves = ["", other["project"].id].map((to) => ({ task_id, project_id: to }));
    await rig.ann.v2("project.update", { project_id, permissions: [deny] });
    const refused = `403 permission_denied: project_id: to remove the rules of a project ${right}`;
    for (const move of moves) expect(await outcome(key, "task.update", move)).toBe(refused);
    expect(await outcome(key, "project.delete", { project_id })).toBe(refused);
    expect((await detail(task_id))["permissions"]).toEqual([{ source: "project", rules: [shown(deny)] }]);
    await rig.ann.v2("project.update", { project_id, permissions: [allow] });
    expect(await outcome(key, "task.update", moves[0] ?? {})).toBe("done");
    await rig.ann.v2("project.update", { project_id, permissions: [deny] });
    expect(await outcome(rig.ann, "project.delete", { project_id })).toBe("done");
  });

  test("of two callers that add rules to a project at the same time, none removes the other's", async () => {
    const key = await limited();
    for (let round = 0; round < 8; round += 1) {
      const { body } = await rig.ann.v2("project.create", { name: "Post" });
      const rules = [deny, { ...deny, pattern: "send_*" }].map((rule) => ({
        project_id: body["project"].id,
        permissions: [rule],
      }));
      const outcomes = await Promise.all(rules.map((edit) => outcome(key, "project.update", edit)));
      expect(outcomes.toSorted()).toEqual([
        expect.stringContaining("permissions: to change or remove a rule"),
        "done",
      ]);
    }
  });

  test("the task of a schedule keeps the rules, which only a caller with the right loosens", async () => {
    const key = await limited();
    const settings = (permissions: readonly object[]) => ({
      schedule: { name: "Report", interval_seconds: 60, task: { message, permissions } },
    });
    expect(await outcome(key, "schedule.create", settings([allow]))).toBe(
      `403 permission_denied: schedule.task.permissions[0].decision: allow ${right}`,
    );
    const { body } = await rig.ann.v2("schedule.create", settings([deny, allow]));
    const { id: schedule_id, task } = body["schedule"];
    expect(task.permissions).toEqual([deny, allow].map(shown));
    const edit = (permissions: readonly object[]) => ({
      schedule_id,
      schedule: { task: settings(permissions).schedule.task },
    });
    expect(await outcome(key, "schedule.update", edit([]))).toMatch(
      "schedule.task.permissions: to change or remove",
    );
    // The message could be another one: the rules of the owner were for the old one.
    expect(await outcome(key, "schedule.update", edit([deny, allow]))).toMatch("permissions[1].decision");
    const { body: run } = await rig.ann.v2("schedule.runNow", { schedule_id });
    expect((await detail(run["task_id"]))["permissions"]).toEqual([
      { source: "task", rules: [deny, allow].map(shown) },
    ]);
  });

  test("a malformed rule is refused with its member and the rule", async () => {
    const task_id = await rig.create();
    const refusal = (rules: unknown, more: object = {}) =>
      outcome(rig.ann, "task.update", { task_id, permissions: rules, ...more });
    const of = (text: string) => `400 invalid_argument: permissions${text}`;
    expect(await refusal([{ decision: "deny" }])).toMatch(of("[0].tool"));
    expect(await refusal([{ ...deny, tool: "run command" }])).toMatch(of("[0].tool: must be the name"));
    expect(await refusal([deny, { ...deny, pattern: "x".repeat(201) }])).toMatch(of("[1].pattern"));
    expect(await refusal([{ tool: "bash" }])).toMatch(of("[0].decision"));
    expect(await refusal([{ ...deny, decision: "perhaps" }])).toMatch(of("[0].decision"));
    expect(await refusal([{ ...deny, each_time: true }])).toMatch(of("[0].each_time: is only for"));
    expect(await refusal(Array.from({ length: 101 }, () => deny))).toMatch(
      of(": must contain no more than 100"),
    );
    expect(await refusal([deny], { clear_permissions: true })).toBe(
      of(": cannot be given with clear_permissions"),
    );
    expect(await refusal(Array.from({ length: 100 }, () => deny))).toBe("done");
  });
});

describeOnOne("the permissions of a subtask", (database) => {
  const rig = taskRig({ database });

  test("are those of its parent at its start, and the parent's later ones are shown with them", async () => {
    const id = await rig.runToEnd("[[subtask Count.]] [[wait all]]", { permissions: [deny] });
    const { body } = await rig.ann.v2("task.list", { parent_task_id: id });
    const subtask = body["data"][0].id;
    await rig.ann.v2("task.update", { task_id: id, permissions: [ask] });
    const { body: shownTask } = await rig.ann.v2("task.detail", { task_id: subtask });
    expect(shownTask["permissions"]).toEqual([
      { source: "parent", rules: [shown(ask)] },
      { source: "task", rules: [shown(deny)] },
    ]);
  });
});
