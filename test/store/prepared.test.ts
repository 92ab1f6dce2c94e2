import type { SqlDriverAdapter } from "@prisma/driver-adapter-utils";
import { expect, test } from "vitest";
import { keepPrepared } from "../../src/store/prepared.ts";

/** A connection that counts what is prepared, and runs by answering with what was bound. */
function countingConnection() {
  const prepared: string[] = [];
  const client = {
    prepare(sql: string) {
      prepared.push(sql);
      return {
        reader: true,
        columns: () => [],
        raw: () => undefined,
        all: (...values: unknown[]) => values,
        run: (...values: unknown[]) => values,
      };
    },
  };
  // Only the connection is looked at.
  keepPrepared({ client } as unknown as SqlDriverAdapter);
  const run = (sql: string, values: unknown[]) =>
    (client.prepare(sql) as unknown as { bind(values: unknown[]): { raw(): { all(): unknown } } }).bind(values).raw().all();
  return { prepared, run };
}

test("a statement is prepared once, and runs with the values of each time", () => {
  const { prepared, run } = countingConnection();
  expect(run("a", [1, 2])).toEqual([1, 2]);
  expect(run("b", [3])).toEqual([3]);
  expect(run("a", [4, 5])).toEqual([4, 5]);
  expect(prepared).toEqual(["a", "b"]);
});

test("the statement that was not used for longest is let go", () => {
  const { prepared, run } = countingConnection();
  run("often", []);
  for (let n = 0; n < 1000; n += 1) {
    run(`once ${n}`, []);
    run("often", []);
  }
  run("once 0", []);
  expect(prepared.filter((sql) => sql === "often")).toHaveLength(1);
  expect(prepared.filter((sql) => sql === "once 0")).toHaveLength(2);
});
