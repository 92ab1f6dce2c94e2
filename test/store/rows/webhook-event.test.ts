import { expect, test } from "vitest";
import type { Tx } from "../../../src/core/store.ts";
import type { Delivery, WebhookEvent } from "../../../src/core/webhooks/delivery.ts";
import { describeOnEach, storeOfSuite, type TestDatabase } from "../../support/database.ts";
import { runDirectly } from "../../support/direct.ts";
import { putTask, sampleDelivery, sampleEvent } from "../samples.ts";

const delivered = { state: "delivered", nextAt: null, settledAt: 2000 } as const;

describeOnEach("webhook events", (kind) => {
  const suite = storeOfSuite(kind);
  const bodies = async (...events: readonly WebhookEvent[]): Promise<unknown[]> => {
    const database = { kind, url: suite.url } as TestDatabase;
    const rows = await runDirectly(database, "SELECT id, body FROM webhook_event");
    return events.map(({ id }) => rows.find((row) => row["id"] === id)?.["body"]);
  };

  /** A task with a delivered event, and one that is delivered to one of two webhooks. */
  async function put(): Promise<{
    taskId: string;
    done: WebhookEvent;
    waiting: WebhookEvent;
    deliveries: readonly Delivery[];
  }> {
    const { id: taskId } = await putTask(suite.store, { status: "stopped" });
    const [done, waiting] = [sampleEvent({ taskId }), sampleEvent({ taskId, seq: 4 })];
    const deliveries = [
      sampleDelivery(done, delivered),
      sampleDelivery(waiting, delivered),
      sampleDelivery(waiting),
    ];
    await suite.store.change((tx) => tx.webhookEvents.insert([done, waiting], deliveries));
    return { taskId, done, waiting, deliveries };
  }

  const settle = (tx: Tx, event: WebhookEvent) => tx.webhookEvents.deleteSettledBodies([event.id]);
  const arrive = (event: WebhookEvent) =>
    runDirectly(
      { kind, url: suite.url } as TestDatabase,
      `UPDATE delivery SET state = 'delivered' WHERE event_id = '${event.id}' RETURNING id`,
    );

  test("are read by their greatest ids", async () => {
    const ids = ["task_progress_x_1790000001", "task_progress_x_1790000002"];
    const events = ids.map((id) => sampleEvent({ id, taskId: "x", type: "task_progress" }));
    const stopped = sampleEvent({ id: "task_stopped_x_1790000009", taskId: "x" });
    await suite.store.change((tx) =>
      tx.webhookEvents.insert([...events, stopped], [sampleDelivery(stopped)]),
    );
    expect(
      (await suite.store.webhookEvents.lastIds("x")).map(({ type, id }) => [type, id]).toSorted(),
    ).toEqual([
      ["task_progress", ids[1]],
      ["task_stopped", stopped.id],
    ]);
    expect(await suite.store.webhookEvents.lastIds("y")).toEqual([]);
  });

  test("that were delivered lose their bodies with their task; pending ones keep them until they are delivered", async () => {
    const { taskId, done, waiting } = await put();
    const other = await put();
    await suite.store.change(async (tx) => {
      await tx.tasks.tombstone(taskId, 3000, false);
      await tx.webhookEvents.deleteBodies(taskId);
    });
    expect(await bodies(done, waiting, other.done, other.waiting)).toEqual(["", "{}", "{}", "{}"]);
    await suite.store.change((tx) => settle(tx, waiting));
    expect(await bodies(waiting)).toEqual(["{}"]);
    await arrive(waiting);
    await suite.store.change((tx) => settle(tx, waiting));
    expect(await bodies(waiting)).toEqual([""]);
  });

  test("keep their bodies while the task exists, and settling none runs no statement", async () => {
    const { done } = await put();
    await suite.store.change(async (tx) => {
      await settle(tx, done);
      await tx.webhookEvents.deleteSettledBodies([]);
    });
    expect(await bodies(done)).toEqual(["{}"]);
  });
});
