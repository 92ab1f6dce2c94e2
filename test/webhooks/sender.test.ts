import { expect, test } from "vitest";
import { ann, putPeople, sampleMember } from "../store/samples.ts";
import { describeOnOne } from "../support/database.ts";
import { runDirectly } from "../support/direct.ts";
import { sampleApp } from "../support/oauth.ts";
import { failureResult, type SenderRig, senderRig, successResult } from "./sender-rig.ts";

const states = async (rig: SenderRig) =>
  (await rig.deliveries()).map(({ state, attempts }) => [state, attempts]);
const types = (rig: SenderRig) => rig.requests.map(({ eventId }) => eventId.split("_").slice(0, 2).join("_"));
const second = 1_000;
const minute = 60 * second;

describeOnOne("the sender", (kind) => {
  test("makes due deliveries, counts the attempt when it claims it, and stores the result", async () => {
    await using rig = await senderRig(kind);
    const webhook = await rig.putWebhook();
    await rig.putEvent("t", 1, "task_created", webhook);
    const sender = rig.start();
    sender.wake();
    const [request] = await rig.waitForRequests(1);
    expect(await states(rig)).toEqual([["pending", 1]]);
    request?.answer({ ...successResult, response: "thanks", latencyMs: 7 });
    await rig.quiet();
    const [delivery] = await rig.deliveries();
    expect(delivery).toMatchObject({ state: "delivered", attempts: 1, nextAt: null });
    expect(await rig.database.store.deliveryLog.attempts(delivery?.id ?? "")).toEqual([
      {
        deliveryId: delivery?.id,
        number: 1,
        at: expect.any(Number),
        status: 200,
        failure: null,
        latencyMs: 7,
        response: "thanks",
      },
    ]);
    expect(rig.requests).toHaveLength(1);
  });

  test("polls every second, so that a lost wake-up costs no more than that", async () => {
    await using rig = await senderRig(kind);
    rig.start();
    await rig.quiet();
    await rig.putEvent("t", 1, "task_created", await rig.putWebhook());
    await rig.clock.advance(second);
    await rig.waitForRequests(1);
  });

  test("retries with the same event and body when the delivery is due, and not before", async () => {
    await using rig = await senderRig(kind);
    await rig.putEvent("t", 1, "task_created", await rig.putWebhook());
    rig.start();
    (await rig.waitForRequests(1))[0]?.answer(failureResult);
    await rig.quiet();
    expect(rig.requests).toHaveLength(1);
    await rig.clock.advance(5 * second);
    const [first, again] = await rig.waitForRequests(2);
    expect([again?.eventId, again?.body]).toEqual([first?.eventId, first?.body]);
    again?.answer({ ...failureResult, status: 503, retryAfter: "3600" });
    await rig.quiet();
    await rig.clock.advance(59 * minute);
    await rig.quiet();
    expect(rig.requests).toHaveLength(2);
    await rig.clock.advance(minute);
    await rig.waitForRequests(3);
  });

  test("begins first attempts of a task in order, each once the previous one has ended, with any result", async () => {
    await using rig = await senderRig(kind);
    const webhook = await rig.putWebhook();
    await rig.putEvent("t", 3, "task_stopped", webhook);
    await rig.putEvent("t", 2, "task_progress", webhook);
    await rig.putEvent("t", 1, "task_created", webhook);
    await rig.putEvent("other", 1, "task_created", webhook);
    rig.start();
    const requests = await rig.waitForRequests(2);
    await rig.quiet();
    expect(types(rig)).toEqual(["task_created", "task_created"]);
    requests.find(({ eventId }) => eventId.includes("_t_"))?.answer(failureResult);
    await rig.waitForRequests(3);
    await rig.quiet();
    expect(types(rig).slice(2)).toEqual(["task_progress"]);
    requests[2]?.answer({ failure: "timeout" });
    await rig.waitForRequests(4);
    expect(types(rig).slice(3)).toEqual(["task_stopped"]);
  });

  test("is not delayed by a webhook that does not answer: it has five attempts at once, and the others continue", async () => {
    await using rig = await senderRig(kind);
    const hanging = await rig.putWebhook();
    const others = await Promise.all(Array.from({ length: 99 }, () => rig.putWebhook()));
    for (let task = 0; task < 30; task++) await rig.putEvent(`slow-${task}`, 1, "task_created", hanging);
    rig.start();
    await rig.waitForRequests(5);
    await rig.quiet();
    expect(rig.requests).toHaveLength(5);
    for (let task = 0; task < 2; task++) await rig.putEvent(`quick-${task}`, 1, "task_created", ...others);
    await rig.clock.advance(second);
    await rig.waitForRequests(5 + 2 * 99);
    expect(rig.requests.filter(({ webhookId }) => webhookId === hanging.id)).toHaveLength(5);
    rig.requests[0]?.answer(failureResult);
    await rig.waitForRequests(6 + 2 * 99);
    expect(rig.requests.at(-1)?.webhookId).toBe(hanging.id);
  });

  test("shares deliveries with other senders: each delivery is made by one", async () => {
    await using rig = await senderRig(kind);
    const webhooks = await Promise.all(Array.from({ length: 20 }, () => rig.putWebhook()));
    for (let task = 0; task < 5; task++) await rig.putEvent(`t-${task}`, 1, "task_created", ...webhooks);
    for (let process = 0; process < 3; process++) rig.start();
    await rig.waitForRequests(100);
    await rig.quiet();
    expect(rig.requests).toHaveLength(100);
    expect(new Set(rig.requests.map(({ webhookId, eventId }) => webhookId + eventId)).size).toBe(100);
  });

  test("that died leaves deliveries that are due again when the lease ends, as another attempt", async () => {
    await using rig = await senderRig(kind);
    await rig.putEvent("t", 1, "task_created", await rig.putWebhook());
    const [row] = await rig.deliveries();
    const now = rig.clock.now();
    await rig.database.store.change((tx) => tx.deliveries.take([row?.id ?? ""], now, now + 20 * second));
    rig.start();
    await rig.clock.advance(17 * second);
    await rig.quiet();
    expect(rig.requests).toEqual([]);
    await rig.clock.advance(second);
    (await rig.waitForRequests(1))[0]?.answer();
    await rig.quiet();
    expect(await states(rig)).toEqual([["delivered", 2]]);
  });

  test("releases deliveries in flight when its drain is late, and begins no more", async () => {
    await using rig = await senderRig(kind);
    const webhook = await rig.putWebhook();
    await rig.putEvent("quick", 1, "task_created", webhook);
    await rig.putEvent("slow", 1, "task_created", webhook);
    const sender = rig.start();
    const [quick, slow] = (await rig.waitForRequests(2)).toSorted((a, b) => (a.eventId < b.eventId ? -1 : 1));
    const drained = sender.drain(5 * second);
    quick?.answer();
    await rig.putEvent("later", 1, "task_created", webhook);
    await rig.clock.advance(5 * second);
    await drained;
    slow?.answer();
    expect(await states(rig)).toEqual([
      ["pending", 0],
      ["delivered", 1],
      ["pending", 0],
    ]);
    rig.start();
    await rig.waitForRequests(4);
  });

  test("cancels the pending deliveries of a deleted webhook, and does not retry those in flight", async () => {
    await using rig = await senderRig(kind);
    const [webhook, late] = [await rig.putWebhook(), await rig.putWebhook()];
    await rig.putEvent("t", 1, "task_created", webhook, late);
    rig.start();
    const [request] = (await rig.waitForRequests(2)).filter(({ webhookId }) => webhookId === webhook.id);
    await rig.database.store.change((tx) => tx.webhooks.tombstone(webhook.id, rig.clock.now()));
    request?.answer(failureResult);
    await rig.database.store.change((tx) => tx.webhooks.tombstone(late.id, rig.clock.now()));
    // Written by a process that had not read the deletion.
    await rig.putEvent("u", 1, "task_created", late);
    await rig.quiet();
    await rig.clock.advance(10 * minute);
    await rig.quiet();
    expect((await states(rig)).map(([state]) => state)).toEqual(["cancelled", "cancelled", "cancelled"]);
    expect(rig.requests).toHaveLength(2);
  });

  test("keeps the pending deliveries of a paused webhook until it is resumed", async () => {
    await using rig = await senderRig(kind);
    const webhook = await rig.putWebhook({ status: "inactive" });
    await rig.putEvent("t", 1, "task_created", webhook);
    rig.start();
    await rig.quiet();
    expect(await states(rig)).toEqual([["pending", 0]]);
    await rig.database.store.change((tx) => tx.webhooks.update(webhook.id, { status: "active" }));
    await rig.clock.advance(second);
    await rig.waitForRequests(1);
  });

  test("makes the pending deliveries of a deleted task, and then erases the body (spec/decisions.md 14)", async () => {
    await using rig = await senderRig(kind);
    await rig.putEvent("t", 1, "task_created", await rig.putWebhook());
    await rig.database.store.change(async (tx) => {
      await tx.tasks.tombstone("t", 1, false);
      await tx.webhookEvents.deleteBodies("t");
    });
    rig.start();
    const [request] = await rig.waitForRequests(1);
    expect(request?.body).not.toBe("");
    request?.answer();
    await rig.quiet();
    expect(await runDirectly(rig.database, "SELECT body FROM webhook_event")).toEqual([{ body: "" }]);
  });

  test("cancels an event whose body is gone", async () => {
    await using rig = await senderRig(kind);
    await rig.putEvent("t", 1, "task_created", await rig.putWebhook());
    await runDirectly(rig.database, "UPDATE webhook_event SET body = '' RETURNING id");
    rig.start();
    await rig.quiet();
    expect(await states(rig)).toEqual([["cancelled", 0]]);
    expect(rig.requests).toEqual([]);
  });

  test.each([
    ["has an active grant", null, [["pending", 1]]],
    ["has revoked it", "UPDATE oauth_grant SET revoked_at = 1 RETURNING id", [["cancelled", 0]]],
    ["is not an active member", "UPDATE membership SET status = 'inactive' RETURNING id", [["cancelled", 0]]],
    [
      "granted it to an app that is deleted",
      "UPDATE oauth_app SET deleted_at = 1 WHERE space_id <> '' RETURNING client_id",
      [["cancelled", 0]],
    ],
  ] as const)("sends to an app's webhook only while the task's user allows it: who %s (spec/decisions.md 43)", async (_user, change, expected) => {
    await using rig = await senderRig(kind);
    const app = sampleApp();
    const { clientId } = app;
    await putPeople(rig.database.store);
    await rig.database.store.change(async (tx) => {
      await tx.accounts.insertMember(sampleMember());
      await tx.apps.insert(app);
      await tx.grants.lock({
        ...ann,
        id: "g",
        clientId,
        scopes: [],
        connectorUids: [],
        generation: 1,
        createdAt: 1,
        updatedAt: 1,
      });
    });
    await rig.putEvent("t", 1, "task_created", await rig.putWebhook({ accountId: "creator", clientId }));
    if (change !== null) await runDirectly(rig.database, change);
    rig.start();
    await rig.quiet();
    expect(await states(rig)).toEqual(expected);
  });

  test("drops progress of a task that has stopped: all retries, and late first attempts", async () => {
    await using rig = await senderRig(kind);
    const webhook = await rig.putWebhook();
    await rig.putEvent("t", 2, "task_progress", webhook);
    await rig.database.store.change((tx) =>
      tx.tasks.advance("t", {
        now: 1,
        set: { status: "stopped" },
        events: [{ type: "status_update", payload: { agentStatus: "stopped", brief: "Done" } }],
      }),
    );
    rig.start();
    (await rig.waitForRequests(1))[0]?.answer(failureResult);
    await rig.quiet();
    await rig.clock.advance(10 * second);
    await rig.quiet();
    expect(await states(rig)).toEqual([["cancelled", 1]]);
    const paused = await rig.putWebhook({ status: "inactive" });
    await rig.putEvent("t", 3, "task_progress", paused);
    await rig.clock.advance(11 * second);
    await rig.database.store.change((tx) => tx.webhooks.update(paused.id, { status: "active" }));
    await rig.quiet();
    expect((await states(rig)).toSorted()).toEqual([
      ["cancelled", 0],
      ["cancelled", 1],
    ]);
    expect(rig.requests).toHaveLength(1);
  });

  test("switches a webhook off at 410, at once, notifies its owner, and does not retry that event", async () => {
    await using rig = await senderRig(kind);
    const webhook = await rig.putWebhook();
    await rig.database.store.change((tx) =>
      tx.accounts.insertAccount({
        id: "ann",
        email: "ann@example.com",
        name: null,
        locale: "en",
        createdAt: 1,
      }),
    );
    await rig.putEvent("t", 1, "task_created", webhook);
    rig.start();
    (await rig.waitForRequests(1))[0]?.answer({ ...failureResult, status: 410 });
    await rig.quiet();
    expect(await states(rig)).toEqual([["failed", 1]]);
    const reason = "the receiver answered 410 Gone";
    expect(await rig.database.store.webhooks.find({ ...webhook, ofApps: false }, webhook.id)).toMatchObject({
      status: "inactive",
      inactiveReason: reason,
    });
    expect(rig.notices).toEqual([{ id: webhook.id, url: webhook.url, email: "ann@example.com", reason }]);
  });

  test("stores since when a webhook fails, and clears it at a success", async () => {
    await using rig = await senderRig(kind);
    const webhook = await rig.putWebhook();
    const health = async () => {
      const found = await rig.database.store.webhooks.find({ ...webhook, ofApps: false }, webhook.id);
      return [found?.failingSince ?? null, found?.failures];
    };
    await rig.putEvent("t", 1, "task_created", webhook);
    const began = rig.clock.now();
    rig.start();
    (await rig.waitForRequests(1))[0]?.answer(failureResult);
    await rig.quiet();
    expect(await health()).toEqual([began, 1]);
    await rig.clock.advance(5 * second);
    (await rig.waitForRequests(2))[1]?.answer();
    await rig.quiet();
    expect(await health()).toEqual([null, 0]);
  });

  test("keeps results that could not be stored, and stores them in the next round", async () => {
    await using rig = await senderRig(kind);
    await rig.putEvent("t", 1, "task_created", await rig.putWebhook());
    let isBroken = false;
    const { store } = rig;
    rig.start({
      store: {
        ...store,
        change: async (work) => (isBroken ? Promise.reject(new Error("no database")) : store.change(work)),
      },
    });
    const [request] = await rig.waitForRequests(1);
    isBroken = true;
    request?.answer();
    await rig.quiet();
    expect(await states(rig)).toEqual([["pending", 1]]);
    expect(rig.logged).toContain("deliveries were not taken");
    isBroken = false;
    await rig.quiet();
    expect(await states(rig)).toEqual([["delivered", 1]]);
  });
});
