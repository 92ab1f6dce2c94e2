import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { holdPlaces, mergePages } from "../../console/src/tasks/merge.ts";
import { changesIn, countText } from "../../console/src/tasks/sections.ts";
import { type Task, TaskSchema, TaskStatus } from "../../src/gen/browser-proto/task/v2/task_pb.ts";

const task = (id: string, status: TaskStatus = TaskStatus.RUNNING, title = id): Task =>
  create(TaskSchema, { id, status, title });
const idsOf = (pages: readonly { readonly data: readonly Task[] }[]) =>
  pages.map(({ data }) => data.map(({ id }) => id));
const changes = (tasks: readonly Task[], removedIds: readonly string[] = []) => ({ tasks, removedIds });

const pages = [{ data: [task("a"), task("b")] }, { data: [task("c"), task("d", TaskStatus.STOPPED)] }];

test("a task keeps its place in a list while its state stays", () => {
  const merged = mergePages(pages, changes([task("c", TaskStatus.RUNNING, "new title")]), "first");
  expect(idsOf(merged)).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  expect(merged[1]?.data[0]?.title).toBe("new title");
});

test("new tasks and tasks in a new state come first, each once, and removed ones go", () => {
  const merged = mergePages(
    pages,
    changes([task("e"), task("c", TaskStatus.WAITING)], ["b", "unknown"]),
    "first",
  );
  expect(idsOf(merged)).toEqual([["e", "c", "a"], ["d"]]);
});

test("a task keeps the time since when it waits over changes, and has that of the change with which it begins to wait", () => {
  const { WAITING } = TaskStatus;
  const changed = (id: string) => create(TaskSchema, { id, status: WAITING, updatedAt: 9n });
  const waits = create(TaskSchema, { id: "a", status: WAITING, updatedAt: 3n, waitingSince: 3n });
  const merged = mergePages([{ data: [waits, task("b")] }], changes([changed("a"), changed("b")]), "last");
  expect(merged.flatMap(({ data }) => data.map(({ id, waitingSince }) => [id, waitingSince]))).toEqual([
    ["a", 3n],
    ["b", 9n],
  ]);
});

test("a task comes to the end of a list by age, when all pages of it are loaded", () => {
  const last = changes([task("e"), task("c", TaskStatus.RUNNING, "new title")]);
  expect(idsOf(mergePages(pages, last, "last"))).toEqual([
    ["a", "b"],
    ["c", "d", "e"],
  ]);
  expect(idsOf(mergePages([{ data: [task("a")], nextCursor: "more" }], last, "last"))).toEqual([["a"]]);
});

test("a list of some states loses a task that is in another one now, and does not get it", () => {
  const { RUNNING, WAITING, STOPPED } = TaskStatus;
  const all = changes([task("a", WAITING), task("b", RUNNING), task("c", STOPPED)], ["d"]);
  expect(changesIn([WAITING], all)).toEqual({ tasks: [task("a", WAITING)], removedIds: ["d", "b", "c"] });
});

test("a heading counts to 1,000", () => {
  expect([0, 40, 1_000, 1_001, 5_000].map((count) => countText(count, String))).toEqual([
    "0",
    "40",
    "1000",
    "1000+",
    "1000+",
  ]);
});

test("rows that are held keep their places and their state, with new texts", () => {
  const shown = [{ id: "running", tasks: [task("a"), task("b"), task("c")] }];
  const newest = [
    { id: "waiting", tasks: [task("b", TaskStatus.WAITING)] },
    { id: "running", tasks: [task("new"), task("a", TaskStatus.RUNNING, "new title")] },
  ];
  const { groups, changed } = holdPlaces(shown, newest);
  expect(groups.map(({ id, tasks }) => [id, tasks.map(({ title, status }) => [title, status])])).toEqual([
    [
      "running",
      [
        ["new title", TaskStatus.RUNNING],
        ["b", TaskStatus.RUNNING],
        ["c", TaskStatus.RUNNING],
      ],
    ],
  ]);
  // One moved, one came, one went.
  expect(changed).toBe(3);
});
