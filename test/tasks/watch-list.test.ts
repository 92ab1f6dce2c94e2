import { setImmediate as turn } from "node:timers/promises";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { TaskStatus } from "../../src/gen/proto/task/v2/task_pb.ts";
import {
  TaskService,
  type WatchTasksRequestSchema,
  type WatchTasksResponse,
} from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { describeOnPostgres, nodesOf } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type StillClock, stillClock } from "../support/still-clock.ts";
import { clientOf } from "../support/wires.ts";
import { outcomeOf } from "./shared-rig.ts";

type Request = MessageInitShape<typeof WatchTasksRequestSchema>;

/** Changes are collected for this time; then a stream that was quiet sends the next one at once. */
const collectMs = 250;
/** A stream checks its credential this often. */
const recheckMs = 5_000;

describeOnPostgres("a watch of a task list", (database) => {
  const limit = 3;
  const open: { close(): void; readonly end: Promise<string> }[] = [];
  let clock: StillClock;
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    clock = stillClock();
    service = await openService({
      database,
      nodes: nodesOf(database),
      clock,
      idle: true,
      env: { WATCH_LIMIT: `${limit}` },
    });
  });
  beforeEach(async () => {
    ann = await service.person();
    // Earlier changes are no longer in the time that is read again.
    await clock.leap(60_000);
  });
  afterEach(async () => {
    for (const { close } of open) close();
    await Promise.all(open.splice(0).map(({ end }) => end));
  });
  afterAll(() => service[Symbol.asyncDispose]());

  function watch(request: Request = {}, headers: Readonly<Record<string, string>> = ann.headers) {
    const away = new AbortController();
    const answers: WatchTasksResponse[] = [];
    let hasEnded = false;
    const stream = clientOf(TaskService, "connect-json", service.url, headers).watchTasks(request, {
      signal: away.signal,
    });
    async function* told(): AsyncGenerator<WatchTasksResponse> {
      for await (const answer of stream) {
        answers.push(answer);
        yield answer;
      }
    }
    const end = outcomeOf(told()).finally(() => {
      hasEnded = true;
    });
    const watching = {
      answers,
      end,
      close: () => away.abort(),
      last: () => answers.at(-1) ?? expect.fail("no answer yet"),
      async until(count: number) {
        while (answers.length < count && !hasEnded) await turn();
        if (answers.length < count) throw new Error(`ended after ${answers.length} answers: ${await end}`);
      },
    };
    open.push(watching);
    return watching;
  }

  /** A watch that sends the next change at once. */
  async function quiet(request: Request = {}, headers = ann.headers) {
    const watching = watch({ follow: true, ...request }, headers);
    await watching.until(1);
    await clock.advance(collectMs);
    return watching;
  }

  async function ok(name: string, fields: object, who = ann): Promise<string> {
    const { body } = await who.v2(name, fields);
    if (!body.ok) throw new Error(JSON.stringify(body));
    return body["task_id"];
  }
  const create = (more: object = {}) => ok("task.create", { message: { content: "Hello" }, ...more });
  /** A reader that catches up from a cursor: titles by id, null for a removed one. */
  async function catchUp(
    cursor: string | undefined,
    request: Request = {},
  ): Promise<Map<string, string | null>> {
    const reading = watch({ ...request, ...(cursor === undefined ? {} : { cursor }) });
    expect(await reading.end).toBe("ok");
    return new Map(reading.answers.flatMap((each) => statesOf(each)));
  }
  const statesOf = ({ tasks, removedIds }: WatchTasksResponse) => [
    ...tasks.map(({ id, title }) => [id, title] as const),
    ...removedIds.map((id) => [id, null] as const),
  ];

  test("first asks for the list, then sends each change at once, from every process", async () => {
    const watching = await quiet();
    expect(watching.last()).toMatchObject({ resync: true, tasks: [], removedIds: [] });
    const id = await create({ title: "One" });
    await watching.until(2);
    expect(watching.last()).toMatchObject({
      resync: false,
      tasks: [{ id, title: "One", status: TaskStatus.RUNNING }],
      removedIds: [],
    });
    await clock.advance(collectMs);
    await ok("task.update", { task_id: id, title: "Two" });
    await watching.until(3);
    expect(watching.last().tasks).toMatchObject([{ id, title: "Two" }]);
    await clock.advance(collectMs);
    await ok("task.delete", { task_id: id, stop: true });
    await watching.until(4);
    expect(statesOf(watching.last())).toEqual([[id, null]]);
  });

  test("collects changes for 250 ms", async () => {
    const watching = await quiet();
    const first = await create();
    await watching.until(2);
    const [second, third] = [await create(), await create()];
    await ok("task.update", { task_id: second, title: "Two" });
    await clock.advance(collectMs - 1);
    expect(watching.answers).toHaveLength(2);
    await clock.advance(1);
    await watching.until(3);
    const found = watching.last().tasks.map(({ id }) => id);
    expect(found.toSorted()).toEqual([second, third].toSorted());
    expect(found).not.toContain(first);
  });

  test("sends a task that no longer matches as removed, and one that matches again as a task", async () => {
    const watching = await quiet({ metadata: { team: "red" }, statuses: [TaskStatus.RUNNING] });
    const id = await create({ metadata: { team: "red" } });
    await watching.until(2);
    expect(watching.last().tasks).toMatchObject([{ id }]);
    await clock.advance(collectMs);
    await ok("task.update", { task_id: id, metadata: { team: "blue" } });
    await watching.until(3);
    expect(statesOf(watching.last())).toEqual([[id, null]]);
    await clock.advance(collectMs);
    await ok("task.update", { task_id: id, metadata: { team: "red" } });
    await watching.until(4);
    expect(watching.last().tasks).toMatchObject([{ id }]);
  });

  test("misses nothing after a cut: changes, deletions, and changes that commit late", async () => {
    const kept = await create();
    const gone = await create();
    await clock.leap(60_000);
    const watching = await quiet();
    const { cursor } = watching.last();
    watching.close();
    await watching.end;
    const late = clock.now() - 9_000;
    const other = await create({ title: "New" });
    await ok("task.delete", { task_id: gone, stop: true });
    await service.store.change((tx) => tx.tasks.advance(kept, { now: late, set: { title: "Late" } }));
    expect(await catchUp(cursor)).toEqual(
      new Map([
        [kept, "Late"],
        [gone, null],
        [other, "New"],
      ]),
    );
  });

  test("has a cursor that repeats nothing older than 10 s, and all of a message that was cut", async () => {
    const first = watch();
    await first.until(1);
    const ids = await Promise.all(Array.from({ length: 101 }, () => create()));
    const all = watch({ cursor: first.last().cursor ?? "" });
    expect(await all.end).toBe("ok");
    expect(all.answers.map(({ tasks }) => tasks.length)).toEqual([100, 1]);
    expect(await catchUp(all.answers[0]?.cursor)).toHaveProperty("size", ids.length);
    await clock.leap(10_001);
    expect(await catchUp(all.answers[1]?.cursor)).toHaveProperty("size", ids.length);
    const current = watch({ cursor: all.last().cursor ?? "", follow: true });
    await current.until(2);
    await clock.advance(collectMs);
    await create();
    await current.until(3);
    expect(current.last().tasks).toHaveLength(1);
    await clock.leap(20_000);
    expect(await catchUp(current.last().cursor)).toHaveProperty("size", 1);
  });

  test("repeats all of a message that was cut, however late it continues", async () => {
    const { cursor = "" } = (await quiet()).last();
    await clock.leap(20_000);
    await Promise.all(Array.from({ length: 101 }, () => create()));
    await clock.leap(20_000);
    const all = watch({ cursor });
    expect(await all.end).toBe("ok");
    expect(await catchUp(all.answers[0]?.cursor)).toHaveProperty("size", 101);
    expect(await catchUp(all.answers[1]?.cursor)).toHaveProperty("size", 0);
  });

  test("asks for the list again when more than 1,000 tasks changed, and when the cursor is older than 24 hours", async () => {
    const { cursor = "" } = (await quiet()).last();
    const id = await create();
    const task = (await service.store.tasks.byId(id)) ?? expect.fail("no task");
    await service.store.change(async (tx) => {
      for (let nth = 0; nth < 1_000; nth += 1)
        await tx.tasks.insert({ ...task, id: `${ann.spaceId}-${nth}`, updatedAt: clock.now() }, []);
    });
    const many = watch({ cursor });
    expect([await many.end, many.answers]).toMatchObject([
      "ok",
      [{ resync: true, tasks: [], removedIds: [] }],
    ]);
    await clock.leap(60_000);
    const late = (await quiet()).last().cursor ?? "";
    await clock.leap(24 * 60 * 60 * 1000 - 1_000);
    expect(await catchUp(late), "within 24 hours").toHaveProperty("size", 0);
    await clock.leap(2_000);
    const old = watch({ cursor: late });
    expect([await old.end, old.answers]).toMatchObject(["ok", [{ resync: true, tasks: [] }]]);
  });

  test("reads nothing for changes of other accounts", async () => {
    const watching = await quiet();
    const bo = await service.person({ with: ann });
    const count = () => service.statements.filter((text) => text.includes("deleted_at IS NOT NULL")).length;
    // The read that follows the first answer.
    for (let turns = 0; turns < 100; turns += 1) await turn();
    const before = count();
    await ok("task.create", { message: { content: "Hello" } }, bo);
    await ok("task.create", { message: { content: "Hello" } }, await service.person());
    for (let turns = 0; turns < 100; turns += 1) await turn();
    expect(count()).toBe(before);
    // And shows nothing of them.
    const id = await create();
    await watching.until(2);
    expect(watching.last().tasks.map((task) => task.id)).toEqual([id]);
  });

  test("ends within 5 s after its session is signed out, without any later change", async () => {
    const session = await ann.session();
    const watching = await quiet({}, session.headers);
    await service.store.change((tx) => tx.sessions.end(session.id));
    await create();
    await clock.advance(recheckMs);
    expect(await watching.end).toContain("unauthenticated");
    expect(watching.answers).toHaveLength(1);
  });

  test("ends within 5 s after its person was removed from the team, without a change", async () => {
    const bo = await service.person({ with: ann });
    const watching = await quiet({}, (await bo.session()).headers);
    const member = await service.store.accounts.member(`team-${ann.spaceId}`, bo.accountId);
    expect((await ann.v2("team.user.remove", { team_user_id: member?.id })).status).toBe(200);
    await clock.advance(recheckMs);
    expect(await watching.end).toContain("unauthenticated");
  });

  test("takes a slot of WATCH_LIMIT until it ends", async () => {
    const node = service.nodes[0]?.url ?? "";
    const client = clientOf(TaskService, "connect-json", node, ann.headers);
    const away = new AbortController();
    const streams = Array.from({ length: limit }, () =>
      client.watchTasks({ follow: true }, { signal: away.signal })[Symbol.asyncIterator](),
    );
    await Promise.all(streams.map((each) => each.next()));
    expect(await outcomeOf(client.watchTasks({ follow: true }))).toContain("resource_exhausted");
    away.abort();
    while (!(await outcomeOf(client.watchTasks({}))).startsWith("ok")) await turn();
  });

  test("refuses the cursor of another person or filter, and a made-up one", async () => {
    const { cursor = "" } = (await quiet()).last();
    const bo = await service.person({ with: ann });
    const refused = [watch({ cursor }, bo.headers), watch({ cursor, query: "x" }), watch({ cursor: "AAAA" })];
    for (const { end } of refused) expect(await end).toContain("is not a cursor of this list");
  });

  test("sends the tasks of a deleted project once they have left it", async () => {
    const { body } = await ann.v2("project.create", { name: "Garden" });
    const projectId: string = body["project"].id;
    const id = await create({ project_id: projectId });
    await clock.leap(60_000);
    const watching = await quiet({ projectId });
    await service.store.change((tx) => tx.projects.tombstone(ann, projectId, clock.now()));
    await service.store.change((tx) => tx.projects.detachTasks(projectId, 10, clock.now()));
    await watching.until(2);
    expect(statesOf(watching.last())).toEqual([[id, null]]);
  });
});
