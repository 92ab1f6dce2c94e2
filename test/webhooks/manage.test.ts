import { beforeAll, describe, expect, test } from "vitest";
import { openWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import { webhookEventTypes } from "../../src/core/webhooks/webhook.ts";
import { WebhookEventType, WebhookStatus } from "../../src/gen/proto/webhook/v2/webhook_pb.ts";
import { outcomeOf } from "../settings/settings-rig.ts";
import { putTask, sampleDelivery, sampleEvent } from "../store/samples.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne, rowsIn, runOn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { putDelivery, stateOf } from "./deliveries.ts";
import { createTestApp, createTestWebhook, type Hook, webhookRig, webhooksOf } from "./rig.ts";

const dayMs = 24 * 3_600_000;

describeOnOne("a webhook", (database) => {
  const clock = stillClock();
  const rig = webhookRig(database, { clock });
  let ann: Person;
  let hook: Hook;
  beforeAll(async () => {
    ann = await rig.person();
    hook = await rig.hook();
  });

  let paths = 0;
  const createHook = (person = ann, of = hook) => {
    paths += 1;
    return createTestWebhook(person, `${of.url}/${paths}`);
  };
  const rowOf = async (id: string) => {
    const reach = { accountId: ann.accountId, spaceId: ann.spaceId, ofApps: true };
    const row = await rig.service.store.webhooks.find(reach, id);
    if (!row) throw new Error("no such webhook");
    return row;
  };

  test("can be read and changed only by its account in its space: for all others it does not exist", async () => {
    const { id } = await createHook();
    const delivery = await putDelivery(rig.service.store, { webhookId: id });
    const others = [
      await rig.person({ with: ann, role: "admin" }),
      await rig.person({ as: ann }),
      await rig.person({ with: ann }),
      await rig.person(),
    ];
    for (const other of others) {
      const client = webhooksOf(other);
      const calls = (webhookId: string) => [
        () => client.deleteWebhook({ webhookId }),
        () => client.updateWebhook({ webhookId, status: WebhookStatus.INACTIVE }),
        () => client.rotateWebhookSecret({ webhookId }),
        () => client.pingWebhook({ webhookId }),
        () => client.listDeliveries({ webhookId }),
        () => client.recoverDeliveries({ webhookId, since: 0n }),
      ];
      for (const call of [...calls(id), ...calls("unknown")])
        expect(await outcomeOf(call())).toBe("NotFound: webhook not found");
      for (const deliveryId of [delivery.id, "unknown"]) {
        expect(await outcomeOf(client.listDeliveryAttempts({ deliveryId }))).toBe(
          "NotFound: delivery not found",
        );
        expect(await outcomeOf(client.resendDelivery({ deliveryId }))).toBe("NotFound: delivery not found");
      }
    }
    expect(await rowOf(id)).toMatchObject({ status: "active", oldSecret: null });
  });

  describe("deleted", () => {
    test("is removed with its secrets, and its pending deliveries are cancelled in the same change", async () => {
      const { id } = await createHook();
      const { store } = rig.service;
      const pending = await putDelivery(store, { webhookId: id, attempts: 1, nextAt: clock.now() + 9 });
      const done = await putDelivery(store, {
        webhookId: id,
        state: "delivered",
        nextAt: null,
        settledAt: 1,
      });
      const elsewhere = await putDelivery(store, { webhookId: (await createHook()).id });
      const { status, body } = await ann.v2("webhook.delete", { webhook_id: id });
      expect([status, Object.keys(body).toSorted()]).toEqual([200, ["ok", "request_id"]]);
      expect(await stateOf(rig.db.url, pending.id)).toEqual({
        state: "cancelled",
        nextAt: null,
        settledAt: clock.now(),
      });
      expect(await stateOf(rig.db.url, done.id)).toMatchObject({ state: "delivered" });
      expect(await stateOf(rig.db.url, elsewhere.id)).toMatchObject({ state: "pending" });
      expect((await webhooksOf(ann).listWebhooks({})).data.map((webhook) => webhook.id)).not.toContain(id);
      expect((await ann.v2("webhook.delete", { webhook_id: id })).body["error"]).toMatchObject({
        code: "not_found",
        message: "webhook not found",
      });
      expect(await outcomeOf(webhooksOf(ann).listDeliveryAttempts({ deliveryId: done.id }))).toBe(
        "NotFound: delivery not found",
      );
      const audit = await rig.auditRow("webhook.v2.WebhookService/DeleteWebhook", id);
      expect(JSON.parse(String(audit["before"]))).toMatchObject({ host: new URL(hook.url).host });
    });

    test("erases the bodies of deleted tasks that were kept only for it (spec/decisions.md 14)", async () => {
      const { store } = rig.service;
      const [first, second] = [await createHook(), await createHook()];
      const [deleted, active] = [await putTask(store), await putTask(store)];
      await runOn(rig.db.url, `UPDATE task SET deleted_at = 1 WHERE id = '${deleted.id}'`);
      const putEvent = async (
        { id: taskId }: { readonly id: string },
        ...webhooks: readonly { readonly id: string }[]
      ) => {
        const event = sampleEvent({ taskId, body: "kept" });
        const deliveries = webhooks.map(({ id: webhookId }) => sampleDelivery(event, { webhookId }));
        await store.change((tx) => tx.webhookEvents.insert([event], deliveries));
        return event.id;
      };
      const ids = [
        await putEvent(deleted, first),
        await putEvent(deleted, first, second),
        await putEvent(deleted, second),
        await putEvent(active, first),
      ];
      const bodies = async () => {
        const rows = await rowsIn(rig.db.url, "SELECT id, body FROM webhook_event");
        return ids.map((eventId) => rows.find(({ id }) => id === eventId)?.["body"]);
      };
      await ann.v2("webhook.delete", { webhook_id: first.id });
      expect(await bodies()).toEqual(["", "kept", "kept", "kept"]);
      await ann.v2("webhook.delete", { webhook_id: second.id });
      expect(await bodies()).toEqual(["", "", "", "kept"]);
    });

    test("by ten at once is deleted once, and its address is free again", async () => {
      const ownHook = await rig.hook();
      const { id } = await createTestWebhook(ann, ownHook.url);
      const replies = await Promise.all(
        Array.from({ length: 10 }, () => ann.v2("webhook.delete", { webhook_id: id })),
      );
      expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(404)]);
      await createTestWebhook(ann, ownHook.url);
    });
  });

  describe("updated", () => {
    const update = (webhookId: string, edit: object) => webhooksOf(ann).updateWebhook({ webhookId, ...edit });

    test("is paused without any request, shows the reason, and stays paused", async () => {
      const ownHook = await rig.hook();
      const { id } = await createHook(ann, ownHook);
      const { webhook } = await update(id, { status: WebhookStatus.INACTIVE });
      expect(webhook).toMatchObject({ status: WebhookStatus.INACTIVE, inactiveReason: "paused" });
      await update(id, { doubleHash: true });
      expect(await rowOf(id)).toMatchObject({
        status: "inactive",
        inactiveReason: "paused",
        doubleHash: true,
      });
      expect(ownHook.received).toHaveLength(1);
    });

    test("resumes after a test request, with a clean record, and pending deliveries are due", async () => {
      const ownHook = await rig.hook();
      const { id } = await createHook(ann, ownHook);
      await rig.service.store.change((tx) =>
        tx.webhooks.update(id, {
          status: "inactive",
          inactiveReason: "every attempt of 5 days failed",
          failingSince: 1,
          failures: 9,
        }),
      );
      const { webhook } = await update(id, { status: WebhookStatus.ACTIVE });
      expect(webhook).toMatchObject({ status: WebhookStatus.ACTIVE });
      expect(webhook).not.toHaveProperty("inactiveReason");
      expect(await rowOf(id)).toMatchObject({ failingSince: null, failures: 0 });
      expect(ownHook.received.map(({ body }) => body.event_type)).toEqual(["webhook_test", "webhook_test"]);
    });

    test("stays paused and otherwise unchanged when the test request fails", async () => {
      const ownHook = await rig.hook();
      const { id } = await createHook(ann, ownHook);
      await update(id, { status: WebhookStatus.INACTIVE });
      const before = await rowOf(id);
      ownHook.answers = 500;
      const call = update(id, {
        status: WebhookStatus.ACTIVE,
        doubleHash: true,
        eventTypes: [WebhookEventType.TASK_FAILED],
      });
      expect(await outcomeOf(call)).toBe(
        "InvalidArgument: status: the receiver answered the test request with 500, not with 2xx",
      );
      expect(await rowOf(id)).toEqual(before);
    });

    test("that is active is not tested again, and may change its types of event", async () => {
      const ownHook = await rig.hook();
      const { id } = await createHook(ann, ownHook);
      const { webhook } = await update(id, {
        status: WebhookStatus.ACTIVE,
        eventTypes: [WebhookEventType.TASK_FAILED],
      });
      expect(webhook).toMatchObject({
        status: WebhookStatus.ACTIVE,
        eventTypes: [WebhookEventType.TASK_FAILED],
      });
      expect((await update(id, {})).webhook).toEqual(webhook);
      expect(ownHook.received).toHaveLength(1);
      const audit = await rig.auditRow("webhook.v2.WebhookService/UpdateWebhook", id);
      expect(JSON.parse(String(audit["after"]))).toMatchObject({ eventTypes: ["task_failed"] });
    });
  });

  describe("given a new secret", () => {
    test("returns it once, and keeps the previous one for 24 hours", async () => {
      const { id, secret: first } = await createHook();
      const { signingSecret, webhook } = await webhooksOf(ann).rotateWebhookSecret({ webhookId: id });
      expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(signingSecret).not.toBe(first);
      expect(webhook?.id).toBe(id);
      const row = await rowOf(id);
      const decrypted = (sealed: Uint8Array | null) =>
        sealed && `whsec_${Buffer.from(openWebhookSecret(cipher, id, sealed)).toString("base64")}`;
      expect([decrypted(row.secret), decrypted(row.oldSecret), row.oldSecretUntil]).toEqual([
        signingSecret,
        first,
        clock.now() + dayMs,
      ]);
      const audit = await rig.auditRow("webhook.v2.WebhookService/RotateWebhookSecret", id);
      expect(JSON.stringify(audit)).not.toContain("whsec_");
    });

    test("is signed with both during that time, and only with the new one after it", async () => {
      const ownHook = await rig.hook();
      const { id } = await createHook(ann, ownHook);
      await webhooksOf(ann).rotateWebhookSecret({ webhookId: id });
      const signatures = async () => {
        await webhooksOf(ann).pingWebhook({ webhookId: id });
        return String(ownHook.received.at(-1)?.headers["webhook-signature"])
          .split(" ")
          .map((item) => item.split(",")[0]);
      };
      expect(await signatures()).toEqual(["v1", "v1", "v1a"]);
      clock.step(dayMs);
      expect(await signatures()).toEqual(["v1", "v1a"]);
      clock.step(-dayMs);
    });

    test("repeated with an idempotency key names the webhook, and creates no other secret", async () => {
      const { id } = await createHook();
      const call = { headers: { "idempotency-key": `rotate-${id}` } };
      await ann.v2("webhook.rotateSecret", { webhook_id: id }, call);
      const row = await rowOf(id);
      const { status, body } = await ann.v2("webhook.rotateSecret", { webhook_id: id }, call);
      expect([status, body["error"]?.message]).toEqual([409, `Idempotency-Key: already used, it made ${id}`]);
      expect(await rowOf(id)).toEqual(row);
    });
  });

  describe("pinged", () => {
    test("returns the result, and adds nothing to the log", async () => {
      const ownHook = await rig.hook();
      const { id } = await createHook(ann, ownHook);
      const { body: good } = await ann.v2("webhook.ping", { webhook_id: id });
      expect(good).toMatchObject({
        delivered: true,
        attempt: {
          number: 1,
          at: Math.floor(quarterPast / 1000),
          status: 204,
          latency_ms: expect.any(Number),
        },
      });
      ownHook.answers = 503;
      const { body: bad } = await ann.v2("webhook.ping", { webhook_id: id });
      expect(bad).toMatchObject({ delivered: false, attempt: { status: 503 } });
      // For an address that is not public nothing is shown (spec/decisions.md 39).
      expect(bad["attempt"]).not.toHaveProperty("response");
      expect((await webhooksOf(ann).listDeliveries({ webhookId: id })).data).toEqual([]);
      await rig.auditRow("webhook.v2.WebhookService/PingWebhook", id);
    });

    test.each(
      webhookEventTypes,
    )("with a type gets a sample in the form of a real delivery: %s", async (type) => {
      const ownHook = await rig.hook();
      const { id } = await createHook(ann, ownHook);
      const { body } = await ann.v2("webhook.ping", { webhook_id: id, event_type: type });
      expect(body).toMatchObject({ delivered: true });
      const { body: sent = {} } = ownHook.received.at(-1) ?? {};
      expect(sent).toMatchObject({
        event_id: expect.stringMatching(new RegExp(`^webhook_test_${type}_${id}_\\d+$`)),
        event_type: type,
      });
      expect(sent.task_detail ?? sent.progress_detail).toMatchObject({ task_id: id });
      expect((await webhooksOf(ann).listDeliveries({ webhookId: id })).data).toEqual([]);
    });

    test("of another account is not found, also with a type", async () => {
      const { id } = await createHook();
      const stranger = await rig.service.person();
      const { status } = await stranger.v2("webhook.ping", { webhook_id: id, event_type: "task_stopped" });
      expect(status).toBe(404);
    });
  });

  test("of an app is not deleted here: it is deleted with the app's setting", async () => {
    const ownHook = await rig.hook();
    const { webhookId } = await createTestApp(ann, ownHook.url);
    const { status, body } = await ann.v2("webhook.delete", { webhook_id: webhookId });
    expect([status, body["error"]?.message]).toEqual([
      412,
      "an app's webhook is removed by clearing the app's webhook_url",
    ]);
  });

  test("has the keys that all webhooks share", async () => {
    const { body } = await ann.v2("webhook.publicKey");
    expect(body).toEqual({
      ok: true,
      request_id: expect.any(String),
      public_key: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/),
      algorithm: "RSA-SHA256",
      ed25519_public_key: expect.stringMatching(/^whpk_[A-Za-z0-9+/]{43}=$/),
      created_at: expect.any(Number),
      keys: [
        {
          public_key: body["public_key"],
          algorithm: "RSA-SHA256",
          created_at: body["created_at"],
          signs_from: body["created_at"],
        },
        {
          public_key: body["ed25519_public_key"],
          algorithm: "ed25519",
          created_at: expect.any(Number),
          signs_from: expect.any(Number),
        },
      ],
    });
    const other = await rig.person();
    expect((await other.v2("webhook.publicKey")).body["public_key"]).toBe(body["public_key"]);
  });
});
