import assert from "node:assert/strict";
import { parse } from "csv-parse/sync";
import { defineTask } from "../support/task.ts";

export default defineTask({
  check({ files, value }) {
    const [head, ...rows] = parse(files.get("balance.csv") ?? "");
    assert.deepEqual(head, ["member", "name", "paid"]);
    assert.deepEqual(
      rows.map(([member, name, paid]) => [member, name, Number(paid)]),
      [
        ["M-02", "Bo Lind", 45],
        ["M-04", "Dan Roe", 0],
        ["M-07", "Ott, Ida", 35],
        ["M-09", "Eve Stone", 0],
        ["M-11", "Cleo Marsh", 40],
      ],
    );
    assert.deepEqual(value, { unmatched: [3, 7] });
  },
});
