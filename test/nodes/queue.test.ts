import { expect } from "vitest";
import { stop } from "../../src/core/tasks/lifecycle.ts";
import { postgresTemplate } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { callV2 } from "../support/wires.ts";

const test = sampledTest(2);

const depth = 10;

test.skipIf(postgresTemplate === undefined)(
  "three nodes refuse new tasks with 503 while QUEUE_DEPTH tasks wait in total, at most a second later on every node, and accept them again when fewer wait",
  async () => {
    const clock = stillClock();
    const env = { QUEUE_DEPTH: String(depth) };
    await using service = await openService({ database: "postgresql", nodes: 3, idle: true, clock, env });
    const ann = await service.person();
    const create = (url: string) =>
      callV2(
        url,
        "task.create",
        { message: { content: "Hello" } },
        { headers: { "x-service-api-key": ann.key } },
      );
    const urls = service.nodes.map(({ url }) => url);
    const [one = "", , three = ""] = urls;
    const counts = () => service.statements.filter((sql) => sql.includes("COUNT(*)")).length;
    /** Resolves when every node has counted the queue again, and sleeps. */
    const aSecond = async () => {
      const before = { counts: counts(), sleeping: clock.sleeping };
      await clock.advance(1_000);
      await expect
        .poll(() => counts() >= before.counts + urls.length && clock.sleeping >= before.sleeping)
        .toBe(true);
    };

    const ids: string[] = [];
    for (let i = 0; i < depth; i += 1) {
      const { status, body } = await create(one);
      expect(status).toBe(200);
      ids.push(String(body["task_id"]));
    }
    const full = { status: 503, body: { ok: false, error: { code: "unavailable" } } };
    expect(await create(one), "who took them knows at once").toMatchObject(full);
    await aSecond();
    for (const url of urls) expect(await create(url)).toMatchObject(full);
    const { body } = await ann.v2("task.list", { limit: 100 });
    expect(body["data"], "what was refused left nothing").toHaveLength(depth);

    await service.store.change((tx) => tx.tasks.advance(ids[0] ?? "", { now: clock.now(), ...stop }));
    await aSecond();
    expect((await create(three)).status).toBe(200);
    expect(await create(three), "there was room for one").toMatchObject(full);
  },
);
