import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { open, tariffs } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ value }) {
    assert.deepEqual(value, { tariffs });
  },
});
