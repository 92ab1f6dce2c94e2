import assert from "node:assert/strict";
import { defineTask } from "../support/task.ts";
import { open } from "./fixtures/world.ts";

export default defineTask({
  open,
  check({ value, files }, { web }) {
    const { year, disagreeing } = Object(value);
    assert.equal(year, 1932);
    const wrong = ["/travel", "/wiki", "/blog"].map((path) => web.url + path);
    assert.deepEqual([...disagreeing].toSorted(), wrong.toSorted());
    assert.ok(web.visits.includes("/archive"), "the archive was not read");
    const text = files.get("answer.md")?.toString() ?? "";
    for (const named of ["1932", "1929", "1935"]) assert.ok(text.includes(named), `${named} is missing`);
  },
});
