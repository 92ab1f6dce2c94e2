import { expect, test } from "vitest";
import { idsAfter } from "../../../src/core/webhooks/event-id.ts";

const now = 1_790_000_000_123;

test("an id ends with the second in which it is made", () => {
  expect(idsAfter([])("task_created", "t", now)).toBe("task_created_t_1790000000");
});

test("two of a type within a second differ, by a second", () => {
  const nextId = idsAfter([]);
  const ids = [nextId("task_progress", "t", now), nextId("task_progress", "t", now), nextId("task_stopped", "t", now)];
  expect(ids).toEqual(["task_progress_t_1790000000", "task_progress_t_1790000001", "task_stopped_t_1790000000"]);
});

test("goes on behind the last one, also when that is ahead of the time or the clock was set back", () => {
  const nextId = idsAfter([{ type: "task_progress", id: "task_progress_t_1790000007" }]);
  expect(nextId("task_progress", "t", now)).toBe("task_progress_t_1790000008");
  expect(nextId("task_progress", "t", now + 60_000)).toBe("task_progress_t_1790000060");
});
