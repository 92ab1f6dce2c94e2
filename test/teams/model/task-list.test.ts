import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { describeOnOne, nodesOf } from "../../support/database.ts";
import { depth, sample } from "../../support/depth.ts";
import { openService, type Service } from "../../support/service.ts";
import { type StillClock, stillClock } from "../../support/still-clock.ts";
import { sides } from "./rig.ts";
import { numRuns, patience, timeout } from "./run-size.ts";
import { comparableRecord, listTasks, recordOf, taskWires } from "./task-call.ts";
import {
  type Author,
  createAuthors,
  pageOf,
  type TaskModel,
  type TaskQuery,
  type TaskReal,
} from "./tasks.ts";

type Command = fc.AsyncCommand<TaskModel, TaskReal>;

const placed = { side: fc.constantFrom(...sides), author: fc.nat(2) };

const command = <A>(
  name: string,
  args: fc.Arbitrary<A>,
  run: (args: A, model: TaskModel, real: TaskReal) => Promise<unknown>,
) =>
  args.map(
    (input): Command => ({
      check: () => true,
      toString: () => `${name} ${JSON.stringify(input)}`,
      run: async (model, real) => void (await run(input, model, real)),
    }),
  );

const authorOf = ({ authors }: TaskModel, n: number): Author => {
  const author = authors[n % authors.length];
  if (author === undefined) throw new Error("no such author");
  return author;
};

const creation = command(
  "create",
  fc.record({ ...placed, ms: fc.constantFrom(0, 0, 1, 999, 60_000), inProject: fc.boolean() }),
  async ({ side, author: n, ms, inProject }, model, { clock }) => {
    await clock.advance(ms);
    const author = authorOf(model, n);
    const place = author.places[side];
    if (place === undefined || place.left) return;
    const projectId = inProject
      ? String((await place.person.v2("project.create", { name: "P", instruction: "" })).body["project"].id)
      : undefined;
    const { body } = await place.person.v2("task.create", {
      message: { content: "x" },
      ...(projectId ? { project_id: projectId } : {}),
    });
    const made = { id: String(body["task_id"]), createdAt: clock.now(), projectId };
    model.tasks.push({ ...made, side, owner: author.accountId, status: "RUNNING", deletedAt: undefined });
  },
);

const deletion = command(
  "delete",
  fc.record({ n: fc.nat(63), ms: fc.constantFrom(0, 1, 1000) }),
  async ({ n, ms }, model, { clock }) => {
    await clock.advance(ms);
    const task = model.tasks[n % Math.max(1, model.tasks.length)];
    const place = task && model.authors.find(({ accountId }) => accountId === task.owner)?.places[task.side];
    if (!task || !place || place.left || task.deletedAt !== undefined) return;
    expect((await place.person.v2("task.delete", { task_id: task.id, stop: true })).body).toMatchObject({
      ok: true,
    });
    Object.assign(task, { status: "STOPPED", deletedAt: clock.now() });
  },
);

/** A member is removed; the tasks stay for exports (spec/decisions.md 5). */
const removal = command("remove", fc.record(placed), async ({ side, author: n }, model, { owners }) => {
  const author = authorOf(model, n);
  const place = author.places[side];
  if (place === undefined || place.left) return;
  expect((await owners[side].v2("team.user.remove", { team_user_id: place.memberId })).body).toMatchObject({
    ok: true,
  });
  place.left = true;
  for (const task of model.tasks)
    if (task.side === side && task.owner === author.accountId) task.status = "STOPPED";
});

const near = fc.option(fc.record({ n: fc.nat(63), by: fc.constantFrom(-1, 0, 1) }), {
  nil: undefined,
  freq: 2,
});
const bounds = fc.record({ from: near, to: near, includeDeleted: fc.boolean() });
const pages = fc.record({
  page: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 4 }) },
    fc.constantFrom(0, -1, 2_147_483_647),
  ),
  pageSize: fc.oneof(
    { weight: 8, arbitrary: fc.integer({ min: 1, max: 6 }) },
    fc.constantFrom(0, 1000, 1001),
  ),
});

const listing = command(
  "list",
  fc.record({
    ...placed,
    wire: fc.constantFrom(...taskWires),
    by: fc.constantFrom("id", "email", "EMAIL"),
    bounds,
    pages,
  }),
  async (
    { side, author: n, wire, by, bounds: { from, to, includeDeleted }, pages: { page, pageSize } },
    model,
    real,
  ) => {
    const author = authorOf(model, n);
    const place = author.places[side];
    const at = (bound: typeof from) =>
      bound && model.tasks.length > 0
        ? (model.tasks[bound.n % model.tasks.length]?.createdAt ?? 0) + bound.by
        : undefined;
    const query: TaskQuery = { startTime: at(from), endTime: at(to), includeDeleted, page, pageSize };
    const email = (place ?? author.places.north ?? author.places.south)?.email ?? "";
    const user = { id: author.accountId, email, EMAIL: email.toUpperCase() }[by] ?? email;
    const { key, spaceId } = real.owners[side];
    const { code, body } = await listTasks(real.service.url, wire, key, user, query);
    real.tally.set(code ?? "done", (real.tally.get(code ?? "done") ?? 0) + 1);
    if (page < 1 || pageSize < 1 || pageSize > 1000) return expect(code).toBe("invalid_argument");
    // Bounds that exclude everything are a mistake, which the specification allows a server to refuse.
    const reversed = (query.startTime ?? 0) > (query.endTime ?? Number.MAX_SAFE_INTEGER);
    if (reversed)
      return expect(place ? ["invalid_argument"] : ["invalid_argument", "not_found"]).toContain(code);
    if (place === undefined) return expect(code).toBe("not_found");
    const expected = pageOf(model, side, author.accountId, query);
    expect(code).toBeUndefined();
    const returned = {
      total: body.total ?? 0,
      records: (body.records ?? []).map((record: object) => comparableRecord(wire, { ...record })),
    };
    expect(returned).toEqual({
      total: expected.total,
      records: expected.tasks.map((task) => recordOf(task, spaceId)),
    });
  },
);

const commands = [
  ...Array.from({ length: 5 }, () => creation),
  deletion,
  removal,
  ...Array.from({ length: 4 }, () => listing),
];

describeOnOne("the tasks of an enterprise's users", (kind) => {
  let shared: { service: Service; clock: StillClock; tally: Map<string, number> };
  beforeAll(async () => {
    const clock = stillClock();
    const service = await openService({ database: kind, nodes: sample(nodesOf(kind), 1), clock, idle: true });
    shared = { service, clock, tally: new Map() };
  });
  afterAll(() => shared.service[Symbol.asyncDispose]());

  test("match a plain list for any creations, deletions and removals", {
    timeout,
  }, async () => {
    const sequences = fc.commands(commands, { maxCommands: 80, size: "max" });
    const property = fc.asyncProperty(sequences, async (sequence) => {
      const setup = await createAuthors(shared);
      await fc.asyncModelRun(() => setup, sequence);
    });
    await fc.assert(property, { numRuns, ...patience });
    // The few random sequences of a slice may leave some of these out.
    if (depth === "slice") return;
    for (const answered of ["done", "invalid_argument", "not_found"])
      expect(shared.tally.get(answered) ?? 0, answered).toBeGreaterThan(0);
  });
});
