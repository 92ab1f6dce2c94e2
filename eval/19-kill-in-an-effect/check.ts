import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { open } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ value }, { orders }) {
    assert.equal(orders.length, 1, "not ordered exactly once");
    assert.equal(Number.parseInt(orders[0]?.quantity ?? "", 10), 3);
    assert.match(orders[0]?.article ?? "", /tea/i);
    assert.deepEqual(value, { order: orders[0]?.number });
  },
});
