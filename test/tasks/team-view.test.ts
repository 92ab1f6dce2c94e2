import { setImmediate as turn } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { beforeEach, expect, test } from "vitest";
import { SortOrder, TaskListView, TaskScope, TaskStatus } from "../../src/gen/proto/task/v2/task_pb.ts";
import {
  type ListTasksRequestSchema,
  TaskService,
  type WatchTasksResponse,
} from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import type { Person } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";
import { clientOf } from "../support/wires.ts";
import { type Headers, outcomeOf, sharedRig } from "./shared-rig.ts";

type Request = MessageInitShape<typeof ListTasksRequestSchema>;
const view = TaskListView.TEAM;

describeOnOne("the team's view of tasks (spec/api.md 8.66)", (database) => {
  const rig = sharedRig(database);
  let owner: Person;
  let bo: Person;
  let boSession: Headers;
  const sessionOf = async (person: Person): Promise<Headers> => (await person.session()).headers;
  const client = (headers: Headers) => clientOf(TaskService, "connect-json", rig.service.url, headers);
  const list = (headers: Headers, request: Request = {}) =>
    client(headers).listTasks({ view, order: SortOrder.ASC, ...request });
  const ids = async (headers: Headers, request: Request = {}) =>
    (await list(headers, request)).data.map(({ id }) => id);

  beforeEach(async () => {
    owner = await rig.service.person();
    bo = await rig.service.person({ with: owner });
    boSession = await sessionOf(bo);
    // Earlier changes are no longer in the time that a watch reads again.
    await rig.clock.leap(60_000);
  });

  async function shareAll(): Promise<{ seen: string[]; hidden: string[] }> {
    const share = async (who: Person, ...[visibility, cap]: ("private" | "team" | "public")[]) => {
      await rig.clock.leap(1_000);
      return rig.share(visibility ?? "private", { who, ...(cap ? { cap } : {}) });
    };
    const seen = [
      await share(owner, "team"),
      await share(owner, "public"),
      await share(bo, "public", "team"),
    ];
    const hidden = [
      await share(owner, "private"),
      await share(owner, "public", "private"),
      await share(bo, "private"),
    ];
    const deleted = await share(owner, "team");
    await owner.v2("task.delete", { task_id: deleted, stop: true });
    return { seen, hidden: [...hidden, deleted] };
  }

  test("has the tasks that a member may open, for sessions of members, guests included", async () => {
    const { seen } = await shareAll();
    const elsewhere = await rig.service.person({ as: owner });
    const other = await rig.share("public", { who: elsewhere });
    const guest = await rig.service.person({ with: owner, role: "guest" });
    for (const who of [owner, bo, guest]) expect(await ids(await sessionOf(who))).toEqual(seen);
    expect(await ids(await sessionOf(elsewhere))).toEqual([other]);
    expect(await ids(boSession, { limit: 1 })).toEqual(seen.slice(0, 1));
    // The own view is as before, also by its name.
    const own = { view: TaskListView.OWN } as const;
    expect(await ids(boSession, own)).toEqual(await ids(boSession, { view: TaskListView.UNSPECIFIED }));
    expect(await ids(await sessionOf(guest), own)).toEqual([]);
  });

  test("is refused for keys and tokens, in a personal space, and for removed and inactive members", async () => {
    await shareAll();
    const token = (await tokenOf(rig.service, bo, { now: rig.clock.now(), scopes: ["manage_all_tasks"] }))
      .headers;
    const alone = await rig.service.person({ personal: true });
    const former = await sessionOf(bo);
    const cases: [Headers, string][] = [
      [owner.headers, "[permission_denied] view=team needs a session"],
      [token, "[permission_denied] view=team needs a session"],
      [await sessionOf(alone), "[failed_precondition] view=team needs the space of a team"],
    ];
    for (const [headers, refusal] of cases) {
      expect(await outcomeOf(list(headers))).toBe(refusal);
      expect(await outcomeOf(client(headers).watchTasks({ view }))).toBe(refusal);
    }
    const { status, body } = await owner.v2("task.list", { view: "team" });
    expect([status, body["error"]?.["code"]]).toEqual([403, "permission_denied"]);
    for (const state of ["removed", "inactive"]) {
      await runDirectly(
        rig.db,
        `UPDATE membership SET status = '${state}' WHERE account_id = '${bo.accountId}'`,
      );
      for (const call of [list(former), client(former).watchTasks({ view })])
        expect(await outcomeOf(call)).toContain("[unauthenticated]");
    }
  });

  test("shows of tasks of others only what their shared pages show, and the account", async () => {
    const project = (await owner.v2("project.create", { name: "Secret" })).body["project"].id;
    const { body } = await owner.v2("task.create", {
      ...{ message: { content: "Hello" }, title: "Shared", share_visibility: "team" },
      ...{ project_id: project, hide_in_task_list: true, metadata: { secret: "yes" } },
    });
    const id: string = body["task_id"];
    const detail = {
      waitingForEventId: "e",
      waitingForEventType: "messageAskUser",
      waitingDescription: "secret",
    };
    await rig.advance(
      id,
      [
        { type: "status_update", payload: { agentStatus: "waiting", brief: "secret", detail } as never },
        { type: "plan_update", payload: { steps: [{ status: "done", title: "secret" }] } },
      ],
      { status: "waiting", addCredits: 7 },
    );
    const { data } = await list(boSession);
    const [task] = data;
    expect(task).toEqual({
      ...{
        $typeName: "task.v2.Task",
        id,
        title: "Shared",
        status: TaskStatus.WAITING,
        shareVisibility: task?.shareVisibility,
      },
      ...{
        createdAt: task?.createdAt,
        updatedAt: task?.updatedAt,
        taskUrl: expect.stringMatching(`/share/${id}$`),
      },
      createdBy: { $typeName: "task.v2.TaskCreator", accountId: owner.accountId },
      // Not set.
      ...{ taskType: 0, hasRunningBackgroundJobs: false, hideInTaskList: false, metadata: {}, lastSeq: 0 },
    });
    expect(JSON.stringify(data, (_, value) => (typeof value === "bigint" ? `${value}` : value))).not.toMatch(
      /secret/i,
    );
    // Its owner sees all of it in this view too.
    expect((await list(await sessionOf(owner))).data).toMatchObject([
      { id, projectId: project, creditUsage: 7, hideInTaskList: true },
    ]);
    // The view gives no access by other operations.
    expect(await outcomeOf(client(boSession).getTask({ taskId: id }))).toContain("not_found");
  });

  test("refuses filters by what it does not show", async () => {
    const refused: [Request, string][] = [
      [{ projectId: "p" }, "project_id: cannot be given with view=team"],
      [{ agentId: "a" }, "agent_id: cannot be given with view=team"],
      [{ metadata: { a: "b" } }, "metadata: cannot be given with view=team"],
      [{ scope: TaskScope.STANDARD }, "scope: cannot be given with view=team"],
      [{ query: "hello" }, "query: needs creator with view=team"],
      [{ view: TaskListView.OWN, creator: owner.accountId }, "creator: needs view=team"],
    ];
    for (const [request, text] of refused) {
      expect(await outcomeOf(list(boSession, request))).toContain(text);
      expect(await outcomeOf(client(boSession).watchTasks({ view, ...request } as never))).toContain(text);
    }
    expect(
      await outcomeOf(
        list(boSession, { scope: TaskScope.ALL, projectId: "", agentId: "", query: "", creator: "" }),
      ),
    ).toBe("ok");
  });

  test("takes a creator, and words of a creator's messages", async () => {
    const { seen } = await shareAll();
    const creator = owner.accountId;
    expect(await ids(boSession, { creator })).toEqual(seen.slice(0, 2));
    expect(await ids(boSession, { creator: "none" })).toEqual([]);
    expect((await list(boSession, { creator, query: "hello shar" })).warnings).toEqual([]);
    expect(await ids(boSession, { creator, query: "hello shar" })).toEqual(seen.slice(0, 2));
    expect(await ids(boSession, { creator, query: "goodbye" })).toEqual([]);
  });

  test("binds cursors to view and creator", async () => {
    await shareAll();
    const { nextCursor: cursor = "" } = await list(boSession, { limit: 1 });
    expect(await ids(boSession, { limit: 1, cursor })).toHaveLength(1);
    const others = [{ view: TaskListView.OWN }, { creator: owner.accountId }, { includeCounts: true }];
    const outcomes = await Promise.all(
      others.map((other) => outcomeOf(list(boSession, { limit: 1, cursor, ...other }))),
    );
    expect(outcomes.map((each) => each === "ok" || /is not a cursor of this list/.test(each))).toEqual([
      true,
      true,
      true,
    ]);
    expect(outcomes.map((each) => each === "ok")).toEqual([false, false, true]);
  });

  test("counts the tasks of all pages by state, on v2 too", async () => {
    const { seen } = await shareAll();
    await rig.advance(seen[0] ?? "", [], { status: "error" });
    const none = { running: 0, waiting: 0, stopped: 0, error: 0, complete: true };
    const { data, counts } = await list(boSession, {
      includeCounts: true,
      limit: 1,
      status: TaskStatus.ERROR,
    });
    expect([data.length, counts]).toEqual([
      1,
      { $typeName: "task.v2.TaskCounts", ...none, running: 2, error: 1 },
    ]);
    // The owner's own: two shared and two that the team does not see.
    const { body } = await owner.v2("task.list", { include_counts: true, statuses: ["stopped"] });
    expect([body["data"], body["counts"]]).toEqual([[], { ...none, running: 3, error: 1 }]);
    expect((await owner.v2("task.list", {})).body["counts"]).toBeUndefined();
    const token = (await tokenOf(rig.service, owner, { now: rig.clock.now(), scopes: ["create_task"] }))
      .headers;
    const { counts: ofApp } = await client(token).listTasks({ includeCounts: true });
    expect(ofApp).toMatchObject(none);
  });

  const statesOf = (answers: readonly WatchTasksResponse[]) =>
    answers.flatMap(({ tasks, removedIds }) => [
      ...tasks.map(({ id, title }) => [id, title]),
      ...removedIds.map((id) => [id, null]),
    ]);

  test("sends shared tasks of others, and nothing of them after they became private", async () => {
    const [id, other] = [
      await rig.share("private", { who: owner }),
      await rig.share("private", { who: owner }),
    ];
    const away = new AbortController();
    const answers: WatchTasksResponse[] = [];
    async function* told() {
      for await (const answer of client(boSession).watchTasks(
        { view, follow: true },
        { signal: away.signal },
      )) {
        answers.push(answer);
        yield answer;
      }
    }
    const end = outcomeOf(told());
    const reach = async (count: number) => {
      while (answers.length < count) {
        await turn();
        await rig.clock.advance(250);
      }
    };
    const update = async (fields: object, task_id = id) => {
      await rig.clock.leap(1_000);
      await owner.v2("task.update", { task_id, ...fields });
    };
    await reach(1);
    await update({ title: "Private" });
    await update({ share_visibility: "team" });
    await reach(2);
    await update({ title: "Seen" });
    await reach(3);
    await update({ share_visibility: "private" });
    await reach(4);
    // Within the time that is read again.
    await update({ title: "Private again" });
    await update({ share_visibility: "team" }, other);
    await reach(5);
    away.abort();
    await end;
    expect(answers.map((answer) => statesOf([answer]))).toEqual([
      [],
      [[id, "Private"]],
      [[id, "Seen"]],
      [[id, null]],
      [[other, "Shared"]],
    ]);
    expect(
      answers
        .flatMap(({ tasks }) => tasks)
        .every(({ taskUrl, lastSeq }) => taskUrl.includes("/share/") && lastSeq === 0),
    ).toBe(true);
  });

  test("catches up from a cursor: what was shared, hidden by a cap, or deleted since then", async () => {
    const [shared, capped, deleted, quiet] = [
      await rig.share("private", { who: owner }),
      await rig.share("public", { who: owner }),
      await rig.share("team", { who: owner }),
      await rig.share("private", { who: owner }),
    ];
    await rig.clock.leap(60_000);
    const all = (cursor: string) => Array.fromAsync(client(boSession).watchTasks({ view, cursor }));
    const [{ cursor = "" } = expect.fail()] = await Array.fromAsync(client(boSession).watchTasks({ view }));
    await rig.advance(shared, [], { shareVisibility: "team" });
    await rig.advance(capped, [], { maxVisibility: "private" });
    await owner.v2("task.delete", { task_id: deleted, stop: true });
    await owner.v2("task.delete", { task_id: quiet, stop: true });
    expect(new Map(statesOf(await all(cursor)) as [string, string | null][])).toEqual(
      new Map([
        [shared, "Shared"],
        [capped, null],
        [deleted, null],
      ]),
    );
    await rig.clock.leap(60_000);
    const later = (await all(cursor)).at(-1)?.cursor ?? "";
    await rig.advance(capped, [], { title: "Unseen" });
    expect(statesOf(await all(later))).toEqual([]);
  });
});
