import { expect, test } from "vitest";
import { newId, sampleWebhook } from "../store/samples.ts";
import { describeOnOne, openTestStore, rowsIn, runOn } from "../support/database.ts";
import { stillClock } from "../support/still-clock.ts";
import { runJobs } from "../support/timed-jobs.ts";
import { putDelivery } from "./deliveries.ts";

const dayMs = 24 * 3_600_000;
const settled = { state: "delivered", nextAt: null, settledAt: 1 } as const;

describeOnOne("the delivery log", (kind) => {
  const clock = stillClock();
  const old = clock.now() - 30 * dayMs - 1;

  const idsIn = async (url: string, table: string, column = "id") =>
    new Set((await rowsIn(url, `SELECT ${column} AS id FROM ${table}`)).map(({ id }) => id));
  const attempt = (url: string, id: string) =>
    runOn(
      url,
      `INSERT INTO delivery_attempt (delivery_id, number, at, latency_ms) VALUES ('${id}', 1, 1, 1)`,
    );

  test("keeps deliveries and attempts for the configured days; pending deliveries stay, with their events", async () => {
    await using database = await openTestStore(kind, { clock });
    const { store, url } = database;
    const webhook = sampleWebhook();
    await store.change((tx) => tx.webhooks.insert(webhook));
    const put = (createdAt: number, members = {}) =>
      putDelivery(store, { webhookId: webhook.id, createdAt, ...members });
    const purged = [
      await put(old, settled),
      await put(1, { ...settled, state: "failed" }),
      await put(1, { ...settled, state: "cancelled" }),
    ];
    const kept = [await put(old + 1, settled), await put(1)];
    for (const { id } of [...purged, ...kept]) await attempt(url, id);
    await runJobs(store, clock);
    expect(await idsIn(url, "webhook_event")).toEqual(new Set(kept.map(({ eventId }) => eventId)));
    expect(await idsIn(url, "delivery")).toEqual(new Set(kept.map(({ id }) => id)));
    expect(await idsIn(url, "delivery_attempt", "delivery_id")).toEqual(new Set(kept.map(({ id }) => id)));
    expect(await idsIn(url, "webhook")).toEqual(new Set([webhook.id]));
  });

  test("keeps deliveries of deleted webhooks this long, and pending ones of active webhooks", async () => {
    await using database = await openTestStore(kind, { clock });
    const { store, url } = database;
    const put = async (members = {}) => {
      const webhook = sampleWebhook({
        url: `https://hooks.example/${newId("path")}`,
        createdAt: 1,
        ...members,
      });
      await store.change((tx) => tx.webhooks.insert(webhook));
      return webhook.id;
    };
    const purged = await put({ deletedAt: 1 });
    const kept = [await put({ deletedAt: clock.now() }), await put()];
    expect(await idsIn(url, "webhook")).toContain(purged);
    await runJobs(store, clock);
    expect(await idsIn(url, "webhook")).toEqual(new Set(kept));
  });

  test("is purged in batches of at most the given size", async () => {
    await using database = await openTestStore(kind, { clock });
    const { store, url } = database;
    for (let n = 0; n < 5; n++) await putDelivery(store, { webhookId: "w", createdAt: 1000 + n, ...settled });
    const purge = () => store.change((tx) => tx.deliveryLog.purge(9000, 2));
    expect([await purge(), await purge(), await purge(), await purge()]).toEqual([2, 2, 1, 0]);
    const events = () => store.change((tx) => tx.deliveryLog.purgeEvents(9000, 3));
    expect([await events(), await events(), await events()]).toEqual([3, 2, 0]);
    expect(await idsIn(url, "webhook_event")).toEqual(new Set());
  });
});
