import fc from "fast-check";
import { expect, test } from "vitest";
import { sample } from "../support/depth.ts";
import { type ReadCacheRig, readCacheRig, reads, storedOn, writes } from "./read-cache-rig.ts";

const controls = ["begin", "commit", "rollback", "savepoint", "undo", "snapshot", "end", "schema"] as const;
const id = fc.constantFrom("a", "b");

/** A step on one of the connections. A step that is impossible in the present state does nothing. */
const steps = fc.array(
  fc.oneof(
    { weight: 9, arbitrary: fc.tuple(fc.constantFrom("writer" as const, "reader" as const), fc.nat(reads.length - 1), id) },
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom("write" as const, "writeElsewhere" as const), fc.nat(writes.length - 1), id) },
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...controls), fc.constant(0), id) },
  ),
  { minLength: 20, maxLength: 60 },
);
type Step = readonly ["writer" | "reader" | "write" | "writeElsewhere" | (typeof controls)[number], nth: number, id: string];

/** An answer of the cache is what the same connection answers without it. The stored rows are read last. */
async function read({ cachedOn, ...rig }: ReadCacheRig, on: "writer" | "reader", nth: number, of: string): Promise<void> {
  const statement = reads[nth]?.(of) ?? expect.fail("no such read");
  const answer = await cachedOn[on].query(statement);
  expect(answer, `${on}: ${statement.sql}`).toEqual(await storedOn(rig[on], statement));
}

/** Triggers that another process creates while this one runs. */
const trigger = (name: string): string => `
  CREATE TRIGGER IF NOT EXISTS ${name} AFTER DELETE ON line BEGIN UPDATE parent SET bytes = x'0${name}' WHERE id = 'a'; DELETE FROM child; END`;

async function take(rig: ReadCacheRig, [what, nth, of]: Step, savepoints: { open: number }): Promise<void> {
  const { writer, reader, other } = rig;
  const inside = writer.inTransaction;
  if (what === "writer" || what === "reader") return read(rig, what, nth, of);
  if (what === "write" && inside) await rig.write(writes[nth]?.(of) ?? "");
  // SQLite has one writer.
  if (what === "writeElsewhere" && !inside) other.exec(writes[nth]?.(of) ?? "");
  if (what === "schema" && !inside) other.exec(trigger(of));
  if (what === "begin" && !inside) rig.begin();
  if ((what === "commit" || what === "rollback") && inside) writer.exec(what);
  if (what === "savepoint" && inside) writer.exec("SAVEPOINT change");
  if (what === "undo" && inside && savepoints.open > 0) writer.exec("ROLLBACK TO change; RELEASE change");
  if (what === "snapshot" && !reader.inTransaction) reader.exec("BEGIN");
  if (what === "end" && reader.inTransaction) reader.exec("COMMIT");
  const change = what === "savepoint" ? 1 : what === "undo" ? -1 : 0;
  savepoints.open = writer.inTransaction ? Math.max(0, savepoints.open + change) : 0;
}

test("after any reads, writes, rollbacks, writes of another process and changes of the schema, the cache answers as the database", async () => {
  await using rig = await readCacheRig();
  let readsDone = 0;
  const before = rig.sent.length;
  await fc.assert(
    fc.asyncProperty(steps, async (taken) => {
      const savepoints = { open: 0 };
      for (const step of taken) await take(rig, step, savepoints);
      readsDone += taken.filter(([what]) => what === "writer" || what === "reader").length;
      if (rig.writer.inTransaction) rig.writer.exec("ROLLBACK");
      if (rig.reader.inTransaction) rig.reader.exec("COMMIT");
      rig.other.exec("DELETE FROM parent; DELETE FROM line; DROP TRIGGER IF EXISTS a; DROP TRIGGER IF EXISTS b");
    }),
    { numRuns: sample(1_000, 60) },
  );
  // The test would mean nothing if nothing were answered from the cache.
  const sent = rig.sent.slice(before).filter((text) => text.startsWith("SELECT")).length;
  expect(sent / readsDone).toBeLessThan(0.9);
});
