import { describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { taskSteps } from "../../src/core/tasks/steps.ts";
import { tasks } from "../../src/core/use-cases/manage-tasks.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { unpublished } from "../support/claims.ts";
import { movableClock } from "../support/clock.ts";
import { describeOnOne, nodesOf, openTestStore } from "../support/database.ts";
import { invalid, taskRig } from "../support/task-rig.ts";
import { untilClaimed } from "../support/until.ts";

describeOnOne("task.stop", (database) => {
  const rig = taskRig({ database, nodes: nodesOf(database) });
  const stop = (id: string) => rig.ann.v2("task.stop", { task_id: id });
  const typesOf = async (id: string) => (await rig.events(id)).map(({ type }) => type);

  test("stops a running task: user_stop, then the status, and an empty answer", async () => {
    const id = await rig.create("[[forever]]");
    const { body, status } = await stop(id);
    expect({ body, status }).toStrictEqual({
      body: { ok: true, request_id: expect.stringMatching(/^req_/) },
      status: 200,
    });
    expect((await rig.events(id)).slice(2)).toMatchObject([
      { type: "user_stop", user_stop: {} },
      {
        type: "status_update",
        status_update: { agent_status: "stopped", brief: expect.stringMatching(/./) },
      },
    ]);
    const { body: detail } = await rig.ann.v2("task.detail", { task_id: id });
    expect(detail["task"]).toMatchObject({ status: "stopped", has_running_background_jobs: false });
  });

  test("on a finished, stopped or failed task it returns ok and adds nothing", async () => {
    const [finished, stopped, failed] = [
      await rig.runToEnd(),
      await rig.create("[[forever]]"),
      await rig.create("[[fail timeout]]"),
    ];
    await stop(stopped);
    await rig.reach(failed, "error");
    for (const id of [finished, stopped, failed]) {
      const before = await rig.row(id);
      expect(await stop(id)).toMatchObject({ status: 200, body: { ok: true } });
      expect(await rig.row(id)).toEqual(before);
    }
  });

  test("stops a waiting task", async () => {
    const id = await rig.runToEnd();
    await rig.force(id, "waiting");
    const { lastSeq } = await rig.row(id);
    await stop(id);
    expect(await rig.row(id)).toMatchObject({ status: "stopped", lastSeq: lastSeq + 2 });
    expect((await typesOf(id)).slice(-2)).toEqual(["user_stop", "status_update"]);
  });

  test("the previous run may write nothing more", async () => {
    const { store } = rig.service;
    const claimed = await untilClaimed(store, await rig.create("[[forever]]"));
    await stop(claimed.id);
    const late = {
      now: Date.now(),
      when: { fence: claimed.fence },
      set: { status: "stopped" },
      events: [],
    } as const;
    expect(await store.change((tx) => tx.tasks.advance(claimed.id, late))).toBeNull();
    expect(await rig.row(claimed.id)).toMatchObject({ nodeId: null });
  });

  test("the task continues with the next message, and the stopped work is not resumed", async () => {
    const id = await rig.create("[[forever]] Tell me about owls");
    await stop(id);
    await rig.send(id, "Tell me about cats");
    await rig.reach(id, "stopped");
    const said = (await rig.events(id))
      .filter(({ type }) => type === "assistant_message")
      .map((event) => event["assistant_message"].content);
    expect(said).toEqual([expect.stringContaining("You wrote: Tell me about cats")]);
    expect(said[0]).toContain("Before this you wrote: Tell me about owls");
  });

  test.each<[why: string, body: object]>([
    ["no task_id", {}],
    ["an empty one", { task_id: "" }],
    ["one of a wrong type", { task_id: ["a"] }],
    ["one of 129 characters", { task_id: "a".repeat(129) }],
  ])("refuses %s", async (_why, body) => {
    const reply = await rig.ann.v2("task.stop", body);
    expect(reply).toMatchObject(invalid("task_id"));
  });

  test("has the same effect over gRPC as over v2", async () => {
    const id = await rig.create("[[forever]]");
    await rig.ann.client(TaskService, "grpc").stopTask({ taskId: id });
    expect(await rig.row(id)).toMatchObject({ status: "stopped" });
    expect((await typesOf(id)).slice(-2)).toEqual(["user_stop", "status_update"]);
  });
});

describe("the time of a stop", () => {
  const caller = {
    accountId: systemIds.uuid(),
    spaceId: "space",
    role: null,
    locale: "en",
    credential: { kind: "key", keyKind: "general", id: "key", scopes: null },
  } as const;
  const taskInput = {
    input: { texts: ["hi"], references: [] },
    interactive: false,
    hidden: false,
    shareVisibility: "private",
  } as const;

  test("is past when the answer arrives, so that the next message is newer; a clock set back causes no wait", async () => {
    const clock = movableClock();
    await using opened = await openTestStore("sqlite", { clock });
    const { store } = opened;
    const { create, stop, send } = tasks({
      clock,
      ids: systemIds,
      backlog: { add: () => undefined },
      steps: taskSteps(clock),
      keepsEvents: false,
      publishTask: unpublished,
    });
    const { id } = await store.change((tx) => create(tx, caller, taskInput));
    await store.change((tx) => stop(tx, caller, id));
    // Four events while the clock stood still: the last one is 4 ms after the request.
    const lastTimestamp = async () => (await store.tasks.byId(id))?.lastTimestamp;
    expect(await lastTimestamp()).toBe(clock.now());
    await store.change((tx) => send(tx, caller, id, taskInput.input, {}));
    clock.set(clock.now() - 3_600_000);
    const before = clock.now();
    await store.change((tx) => stop(tx, caller, id));
    expect(clock.now()).toBe(before + 50);
    expect(await lastTimestamp()).toBe(before + 3_600_000 + 4);
  });
});

describe("a task without a run", () => {
  const rig = taskRig({ env: { RUN_CONCURRENCY: "1" } });

  test("is stopped before it was claimed, never starts, and continues with the next message", async () => {
    const first = await rig.create("[[forever]]");
    await untilClaimed(rig.service.store, first);
    const id = await rig.create("Say one");
    await rig.ann.v2("task.stop", { task_id: id });
    await rig.ann.v2("task.stop", { task_id: first });
    // The runner is free now and claims the next task in the queue: if it were this one, it would have
    // written something.
    await rig.runToEnd("Say two");
    expect((await rig.events(id)).map(({ type }) => type)).toEqual([
      "user_message",
      "status_update",
      "user_stop",
      "status_update",
    ]);
    await rig.send(id, "Say three");
    await rig.reach(id, "stopped");
    const said = (await rig.events(id)).findLast(({ type }) => type === "assistant_message");
    expect(said?.["assistant_message"].content).toContain("You wrote: Say three");
  });
});
