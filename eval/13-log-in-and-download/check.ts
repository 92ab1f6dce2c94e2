import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { expected, open } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ files }, { state }) {
    assert.equal(files.get("statement.csv")?.toString(), expected);
    assert.ok(state.downloads > 0, "the statement was not downloaded");
    assert.equal(state.isOpen, false, "the session is still open");
  },
});
