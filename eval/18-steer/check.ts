import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { chapters, open, steeredAt } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ files }, { web }) {
    assert.equal(web.visits.length, steeredAt, "chapters were read after the message, or too few before it");
    const codes = chapters.slice(0, steeredAt).map(({ code }) => code);
    const lines = files.get("codes.txt")?.toString().trim().split("\n");
    assert.deepEqual(lines, ["STOPPED EARLY", ...codes.toReversed()]);
  },
});
