import { statSync } from "node:fs";
import { expect, test } from "vitest";
import { openTestStore } from "../support/database.ts";
import { openService } from "../support/service.ts";

test("the probe of /readyz takes more space than a new task, so that it fails first when the disk is full", async () => {
  await using database = await openTestStore("sqlite");
  await using service = await openService({ over: database, idle: true });
  const ann = await service.person();
  const wal = `${database.url.replace(/^file:/, "")}-wal`;
  const growth = async (work: () => Promise<unknown>): Promise<number> => {
    const before = statSync(wal).size;
    await work();
    return statSync(wal).size - before;
  };
  await database.store.ping();
  const create = await growth(() =>
    ann.v2("task.create", { message: { content: "Sort my post. ".repeat(70) } }),
  );
  expect(await growth(() => database.store.ping())).toBeGreaterThanOrEqual(create + 4096);
});
