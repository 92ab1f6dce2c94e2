import { create } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { holdPlaces, mergePages } from "../../console/src/tasks/merge.ts";
import { type Task, TaskSchema, TaskStatus } from "../../src/gen/browser-proto/task/v2/task_pb.ts";

const task = (id: string, status: TaskStatus = TaskStatus.RUNNING, title = id): Task => create(TaskSchema, { id, status, title });
const idsOf = (pages: readonly { readonly data: readonly Task[] }[]) => pages.map(({ data }) => data.map(({ id }) => id));
const changes = (tasks: readonly Task[], removedIds: readonly string[] = []) => ({ tasks, removedIds });

const pages = [{ data: [task("a"), task("b")] }, { data: [task("c"), task("d", TaskStatus.STOPPED)] }];

test("a task keeps its place in a list while its state stays", () => {
  const merged = mergePages(pages, changes([task("c", TaskStatus.RUNNING, "new title")]));
  expect(idsOf(merged)).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
  expect(merged[1]?.data[0]?.title).toBe("new title");
});

test("new tasks and tasks in a new state come first, each once, and removed ones go", () => {
  const merged = mergePages(pages, changes([task("e"), task("c", TaskStatus.WAITING)], ["b", "unknown"]));
  expect(idsOf(merged)).toEqual([["e", "c", "a"], ["d"]]);
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
