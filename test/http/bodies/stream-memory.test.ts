import { expect, test } from "vitest";
import { openService } from "../../support/service.ts";

const kib = 1024;

test("a stream that stays open holds none of the memory for bodies", async () => {
  await using service = await openService({
    idle: true,
    env: { BODY_LIMIT: "100KiB", BODY_MEMORY: "400KiB" },
  });
  const ann = await service.person();
  const { body } = await ann.v2("task.create", { message: { content: "garden" } });
  const watch = JSON.stringify({ task_id: body["task_id"] }).padEnd(80 * kib);
  const gone = new AbortController();
  const statuses: number[] = [];
  for (let i = 0; i < 3; i++) {
    const headers = { ...ann.headers, "content-type": "application/json" };
    const answer = await fetch(`${service.url}/v2/task.watch`, {
      method: "POST",
      headers,
      body: watch,
      signal: gone.signal,
    });
    statuses.push(answer.status);
  }
  expect(statuses).toEqual([200, 200, 200]);
  gone.abort();
});

test("a body of BODY_LIMIT is accepted, however small BODY_MEMORY is", async () => {
  await using service = await openService({
    idle: true,
    env: { BODY_LIMIT: "100KiB", BODY_MEMORY: "200KiB" },
  });
  const ann = await service.person();
  const raw = JSON.stringify({ message: { content: "garden" } }).padEnd(100 * kib);
  expect((await ann.v2("task.create", {}, { raw })).status).toBe(200);
});
