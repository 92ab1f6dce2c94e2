import { expect, test } from "vitest";
import { createEventIds } from "../../../src/core/webhooks/outbox.ts";

const now = 1_790_000_000_123;

test("an id ends with the second of its creation", () => {
  expect(createEventIds([])("task_created", "t", now)).toBe("task_created_t_1790000000");
});

test("two ids of a type within a second differ by a second", () => {
  const nextId = createEventIds([]);
  const ids = [
    nextId("task_progress", "t", now),
    nextId("task_progress", "t", now),
    nextId("task_stopped", "t", now),
  ];
  expect(ids).toEqual([
    "task_progress_t_1790000000",
    "task_progress_t_1790000001",
    "task_stopped_t_1790000000",
  ]);
});

test("ids continue after the last one, also if that is in the future or the clock was set back", () => {
  const nextId = createEventIds([{ type: "task_progress", id: "task_progress_t_1790000007" }]);
  expect(nextId("task_progress", "t", now)).toBe("task_progress_t_1790000008");
  expect(nextId("task_progress", "t", now + 60_000)).toBe("task_progress_t_1790000060");
});
