import { afterAll, beforeAll, expect, test } from "vitest";
import { seededRandom } from "../faults/harness/seeded-random.ts";
import { describeOnOne } from "../support/database.ts";
import { sample, seed } from "../support/depth.ts";
import { testMs } from "../support/patience.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import {
  comparableEvents,
  eventsOf,
  everyEvent,
  fetchBetween,
  putFile,
  putSourceTask,
  runImport,
  sourceOrigin,
  tasksOf,
} from "./import-rig.ts";

const rounds = sample(1_000, 6);

/** A network that fails from one request on, before it is sent or after its answer was sent. */
function cutting(
  at: number,
  isAfter: boolean,
): { readonly fetching: typeof fetch; readonly count: () => number } {
  let sent = 0;
  const cut = () => new TypeError("fetch failed");
  return {
    count: () => sent,
    async fetching(input, init) {
      sent += 1;
      if (sent > at || (sent === at && !isAfter)) throw cut();
      const reply = await fetch(input, init);
      if (sent < at) return reply;
      await reply.arrayBuffer();
      throw cut();
    },
  };
}

describeOnOne("an import", (database) => {
  let [source, target]: [Service, Service] = [undefined as never, undefined as never];
  let ann: Person;
  beforeAll(async () => {
    source = await openService({ database, idle: true, env: { BASE_URL: sourceOrigin } });
    target = await openService({ database, idle: true });
    ann = await source.person({ personal: true });
    const { body } = await ann.v2("project.create", { name: "Bills" });
    const parent = await putSourceTask(source, ann, everyEvent, {
      projectId: body["project"].id,
      type: "project",
      subtasks: 1,
    });
    const place = { parentId: parent, rootId: parent, depth: 1, type: "agent_subtask" } as const;
    await putSourceTask(source, ann, everyEvent, { ...place, createdAt: Date.now() - 1_000_000 });
    const content = [{ type: "file", file_id: await putFile(ann, source, "a.csv", "a,b") }];
    await ann.v2("task.create", { message: { content } });
  });
  afterAll(async () => {
    await source[Symbol.asyncDispose]();
    await target[Symbol.asyncDispose]();
  });

  async function run(bo: Person, fetching: typeof fetch = fetch) {
    return runImport(fetchBetween(source, target, fetching), { source: ann.key, target: bo.key }, "--json");
  }

  /** What an account has, without ids. */
  async function stateOf(bo: Person): Promise<unknown> {
    const tasks = await tasksOf(bo);
    const all = await Promise.all(
      tasks.map(async ({ id }) => comparableEvents(await eventsOf(bo, String(id)))),
    );
    const [report] = await target.store.imports.listReports(bo);
    const { body } = await bo.v2("project.list");
    return [
      tasks.map(({ title, subtasks, task_type }) => [title, subtasks, task_type]),
      all,
      { ...report, startedAt: 0 },
      body["data"].length,
    ];
  }

  test("an import that is cut at any request is completed by the next run, and nothing is doubled", {
    timeout: testMs + 4 * rounds * 10_000,
  }, async () => {
    const whole = await target.person({ personal: true });
    const network = cutting(Number.POSITIVE_INFINITY, false);
    expect(await run(whole, network.fetching)).toMatchObject({ code: 0 });
    const expected = await stateOf(whole);
    const dice = seededRandom(`cuts ${seed}`);
    const cuts = Array.from({ length: 2 * network.count() }, (_, index) => ({
      ...{ at: Math.floor(index / 2) + 1, isAfter: index % 2 === 1, order: dice.below(1_000_000) },
    })).toSorted((a, b) => a.order - b.order);
    for (const { at, isAfter } of cuts.slice(0, rounds)) {
      const bo = await target.person({ personal: true });
      await run(bo, cutting(at, isAfter).fetching);
      const { code, out } = await run(bo);
      expect({ code, out, at, isAfter }).toMatchObject({ code: 0 });
      expect(await stateOf(bo), `a cut at request ${at}`).toEqual(expected);
    }
  });
});
