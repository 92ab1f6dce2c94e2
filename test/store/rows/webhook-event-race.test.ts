import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { openTestStore, postgresTemplate } from "../../support/database.ts";
import { runDirectly } from "../../support/direct.ts";
import { putTask, sampleDelivery, sampleEvent } from "../samples.ts";

/** SQLite has one writer. */
describe.skipIf(postgresTemplate === undefined)("a delivery that completes while its task is deleted", () => {
  test("leaves no body: the deletion waits for it", async () => {
    await using database = await openTestStore("postgresql");
    const { store } = database;
    const { id } = await putTask(store, { status: "stopped" });
    const event = sampleEvent({ taskId: id });
    const delivery = sampleDelivery(event);
    await store.change((tx) => tx.webhookEvents.insert([event], [delivery]));
    const sender = new Client({ connectionString: database.url });
    await sender.connect();
    try {
      await sender.query("BEGIN");
      await sender.query("UPDATE delivery SET state = 'delivered', next_at = NULL WHERE id = $1", [
        delivery.id,
      ]);
      const deleted = store.change(async (tx) => {
        await tx.tasks.tombstone(id, 3000, false);
        await tx.webhookEvents.deleteBodies(id);
      });
      const waiting =
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
      while ((await sender.query(waiting)).rowCount === 0)
        await new Promise((resolve) => setImmediate(resolve));
      await sender.query("COMMIT");
      await deleted;
    } finally {
      await sender.end();
    }
    expect(await runDirectly(database, "SELECT body FROM webhook_event")).toEqual([{ body: "" }]);
  });
});
