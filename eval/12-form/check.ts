import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { confirmation, open, report } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ text }, { sent }) {
    const expected = { name: "Ida Ott", department: "d3", from: "2026-12-14", time: "am", file: report };
    assert.deepEqual(sent, [expected], "the form was not sent once with these members");
    assert.ok(text.includes(confirmation), "the answer has no number");
  },
});
