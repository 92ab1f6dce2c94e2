import { afterAll, beforeAll, expect, test } from "vitest";
import { sampleRow } from "../store/samples.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { createWorker } from "../workers/worker-rig.ts";

describeOnOne("task.inspect", (database) => {
  let service: Service;
  let ann: Person;
  beforeAll(async () => {
    service = await openService({ database, env: { AGENT_PROFILES: "manus-1.6-max=remote" } });
    ann = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  const create = async (content: string, more = {}): Promise<string> =>
    String((await ann.v2("task.create", { message: { content }, ...more })).body["task_id"]);
  const inspect = (task_id: string, more = {}, who = ann) => who.v2("task.inspect", { task_id, ...more });

  test("shows the claims, what runs the task, and its costs, oldest first and in pages", async () => {
    const before = Date.now();
    const id = await create("[[credits 3]][[say One.]]");
    await ann.v2("task.detail", { task_id: id, wait_seconds: 30 });
    await ann.v2("task.sendMessage", { task_id: id, message: { content: "[[credits 4]][[say Two.]]" } });
    await ann.v2("task.detail", { task_id: id, wait_seconds: 30 });
    const { status, body } = await inspect(id);
    expect(status).toBe(200);
    expect(body["run"]).toMatchObject({ fence: expect.any(Number), claims: 1 });
    expect(body["run"]).not.toHaveProperty("runner");
    expect(body["run"].claimed_at).toBeGreaterThanOrEqual(before);
    expect(body["costs"].map(({ credits }: { readonly credits: number }) => credits)).toEqual([3, 4]);
    expect(body["costs"][0]).toEqual({
      at: expect.any(Number),
      credits: 3,
      input_tokens: 0,
      cached_input_tokens: 0,
      cache_write_tokens: 0,
      output_tokens: 0,
      tool_calls: 0,
    });
    expect(body).toMatchObject({ has_more: false });
    const { body: first } = await inspect(id, { limit: 1 });
    expect(first).toMatchObject({ has_more: true, costs: [{ credits: 3 }] });
    const { body: second } = await inspect(id, { limit: 1, cursor: first["next_cursor"] });
    expect(second).toMatchObject({ has_more: false, costs: [{ credits: 4 }] });
    expect(body["compactions"]).toEqual([]);
    const other = await create("[[say Hello]]");
    expect((await inspect(other, { limit: 1, cursor: first["next_cursor"] })).status).toBe(400);
  });

  test("shows the compactions of the conversation with the model, oldest first, on the first page", async () => {
    const id = await create("[[say Hello]][[credits 1]]");
    await ann.v2("task.detail", { task_id: id, wait_seconds: 30 });
    const tokens = { before: 160_000, after: 30_000 };
    const parts = [
      { type: "cleared", toolCallIds: ["c00000001"], tokens: { before: 130_000, after: 90_000 } },
      { type: "summary", text: "Owls.", from: 0, usersFrom: 0, tokens },
      { type: "cleared", toolCallIds: [] },
    ] as const;
    await service.store.change((tx) =>
      tx.tasks.advance(id, {
        now: Date.now(),
        rows: [
          sampleRow(0),
          ...parts.map((part, at) => ({
            ...sampleRow(at + 1),
            role: "compaction" as const,
            parts: [part],
            createdAt: 7 + at,
          })),
        ],
      }),
    );
    expect((await inspect(id)).body["compactions"]).toEqual([
      { at: 7, kind: "cleared", tokens_before: 130_000, tokens_after: 90_000 },
      { at: 8, kind: "summarized", tokens_before: 160_000, tokens_after: 30_000 },
    ]);
  });

  test("names the process or the worker that runs a task, and nothing once it is stopped", async () => {
    const own = await create("[[forever]]");
    await expect.poll(async () => (await inspect(own)).body["run"].runner).toBe("process");
    const [node] = await service.store.nodes.list();
    expect((await inspect(own)).body["run"].runner_id).toBe(node?.id);
    await ann.v2("task.stop", { task_id: own });
    expect((await inspect(own)).body["run"]).not.toHaveProperty("runner_id");
    const worker = await createWorker(service, ann);
    const remote = await create("Work", { agent_profile: "manus-1.6-max" });
    await worker.pollUntilRun();
    const [credential] = await service.store.workers.list(ann.spaceId);
    expect((await inspect(remote)).body["run"]).toMatchObject({
      runner: "worker",
      runner_id: credential?.id,
    });
  });

  test("is not found for the task of another person, and for an unknown one", async () => {
    const id = await create("[[say Hello]]");
    expect((await inspect(id, {}, await service.person({ with: ann }))).status).toBe(404);
    expect((await inspect("unknown")).status).toBe(404);
  });
});
