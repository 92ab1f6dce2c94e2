import { beforeAll, describe, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { DeliveryState, WebhookEventType, WebhookStatus } from "../../src/gen/proto/webhook/v2/webhook_pb.ts";
import { outcomeOf } from "../settings/settings-rig.ts";
import { describeOnOne, rowsIn, runOn } from "../support/database.ts";
import { pendingJobs } from "../support/jobs.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type PutDelivery, putDelivery, stateOf } from "./deliveries.ts";
import { createTestWebhook, type Hook, webhookRig, webhooksOf } from "./rig.ts";

describeOnOne("the log of deliveries", (database) => {
  const clock = stillClock();
  const rig = webhookRig(database, { clock });
  let ann: Person;
  let hook: Hook;
  beforeAll(async () => {
    ann = await rig.person();
    hook = await rig.hook();
  });

  const newHook = async () => (await createTestWebhook(ann, `${hook.url}/${systemIds.short()}`)).id;
  const put = (webhookId: string, members: Partial<PutDelivery> = {}) =>
    putDelivery(rig.service.store, { webhookId, ...members });
  const settled = (state: "delivered" | "failed" | "cancelled") => ({ state, nextAt: null, settledAt: 5000 });

  describe("is listed", () => {
    test("newest first, each with its event and body", async () => {
      const webhookId = await newHook();
      const first = await put(webhookId, {
        attempts: 2,
        nextAt: 90_500,
        createdAt: 61_999,
        seq: 7,
        body: '{"a":"ä"}',
      });
      await put(webhookId, { ...settled("delivered"), createdAt: 62_000 });
      const { status, body } = await ann.v2("webhook.deliveries", { webhook_id: webhookId });
      expect(status).toBe(200);
      expect(body).toMatchObject({ ok: true, has_more: false });
      expect(body["data"][0]).toMatchObject({ state: "delivered", created_at: 62, settled_at: 5 });
      expect(body["data"][1]).toEqual({
        id: first.id,
        webhook_id: webhookId,
        event_id: first.eventId,
        event_type: "task_created",
        task_id: first.taskId,
        task_event_id: `ev_${first.taskId}_7`,
        seq: 7,
        state: "pending",
        attempts: 2,
        created_at: 61,
        next_attempt_at: 90,
        body: '{"a":"ä"}',
      });
    });

    test("of a task over all webhooks that the caller can see, and of no other person's", async () => {
      const [one, other] = [await newHook(), await newHook()];
      const stranger = (await createTestWebhook(await rig.person(), `${hook.url}/${systemIds.short()}`)).id;
      const taskId = systemIds.short();
      await put(one, { taskId, createdAt: 1000, body: "{}" });
      await put(stranger, { taskId, createdAt: 2000 });
      await put(other, { taskId, createdAt: 3000 });
      await put(other, { taskId: "another", createdAt: 4000 });
      const page = (more = {}) => ann.v2("webhook.deliveries", { task_id: taskId, ...more });
      const { body } = await page();
      expect(body["data"].map(({ webhook_id }: { readonly webhook_id: string }) => webhook_id)).toEqual([
        other,
        one,
      ]);
      expect(body["data"][1].body).toBe("{}");
      const { body: first } = await page({ limit: 1 });
      const { body: rest } = await page({ limit: 1, cursor: first["next_cursor"] });
      expect(rest).toMatchObject({ data: [{ webhook_id: one }], has_more: false });
      expect((await page({ webhook_id: stranger })).status).toBe(404);
      const refused = await ann.v2("webhook.deliveries", {});
      expect(refused).toMatchObject({
        status: 400,
        body: { error: { message: "webhook_id: is required without task_id" } },
      });
    });

    test("by type, state, task and time, together and separately; bounds are whole seconds and exclusive", async () => {
      const webhookId = await newHook();
      const samples = [
        { type: "task_created", createdAt: 10_000, taskId: "t1", ...settled("delivered") },
        { type: "task_stopped", createdAt: 20_999, taskId: "t1", ...settled("failed") },
        { type: "task_created", createdAt: 30_000, taskId: "t2", ...settled("failed") },
        { type: "task_progress", createdAt: 40_000, taskId: "t2", ...settled("cancelled") },
      ] as const;
      const ids = new Map<string, number>();
      for (const [n, one] of samples.entries()) ids.set((await put(webhookId, { ...one })).id, n);
      const listIds = async (filter: object) =>
        (await webhooksOf(ann).listDeliveries({ webhookId, ...filter })).data.map(({ id }) => ids.get(id));
      expect(await listIds({})).toEqual([3, 2, 1, 0]);
      expect(await listIds({ eventType: WebhookEventType.TASK_CREATED })).toEqual([2, 0]);
      expect(await listIds({ state: DeliveryState.FAILED })).toEqual([2, 1]);
      expect(await listIds({ taskId: "t1" })).toEqual([1, 0]);
      expect(await listIds({ createdAfter: 20n })).toEqual([3, 2]);
      expect(await listIds({ createdBefore: 20n })).toEqual([0]);
      expect(await listIds({ createdAfter: 10n, createdBefore: 40n })).toEqual([2, 1]);
      expect(await listIds({ createdAfter: 2n ** 62n })).toEqual([]);
      expect(
        await listIds({
          eventType: WebhookEventType.TASK_CREATED,
          state: DeliveryState.FAILED,
          taskId: "t2",
        }),
      ).toEqual([2]);
      expect(await listIds({ state: DeliveryState.FAILED, taskId: "t3" })).toEqual([]);
      expect(
        await listIds({
          eventType: WebhookEventType.UNSPECIFIED,
          state: DeliveryState.UNSPECIFIED,
          taskId: "",
        }),
      ).toHaveLength(4);
    });

    test("by pages without gaps or repetitions, also with equal timestamps", async () => {
      const webhookId = await newHook();
      const all: string[] = [];
      for (let n = 0; n < 7; n++)
        all.push((await put(webhookId, { createdAt: n < 4 ? 1000 : 2000, ...settled("failed") })).id);
      const seen: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await webhooksOf(ann).listDeliveries({
          webhookId,
          limit: 2,
          ...(cursor ? { cursor } : {}),
        });
        expect(page.hasMore).toBe(page.nextCursor !== undefined);
        seen.push(...page.data.map(({ id }) => id));
        cursor = page.nextCursor;
      } while (cursor);
      expect(seen).toHaveLength(7);
      expect(new Set(seen)).toEqual(new Set(all));
    });

    test("by cursors that are valid only for their webhook, filter and caller", async () => {
      const [webhookId, other] = [await newHook(), await newHook()];
      for (const to of [webhookId, webhookId, other, other]) await put(to, { ...settled("failed") });
      const { nextCursor: cursor = "" } = await webhooksOf(ann).listDeliveries({ webhookId, limit: 1 });
      const refusal = "InvalidArgument: cursor: is not a cursor of this list";
      expect(await outcomeOf(webhooksOf(ann).listDeliveries({ webhookId, limit: 9, cursor }))).toBe("let in");
      expect(await outcomeOf(webhooksOf(ann).listDeliveries({ webhookId: other, limit: 1, cursor }))).toBe(
        refusal,
      );
      expect(
        await outcomeOf(webhooksOf(ann).listDeliveries({ webhookId, state: DeliveryState.FAILED, cursor })),
      ).toBe(refusal);
      expect(await outcomeOf(webhooksOf(ann).listDeliveries({ webhookId, cursor: `${cursor}A` }))).toBe(
        refusal,
      );
    });

    test("without a body after its retention", async () => {
      const webhookId = await newHook();
      await put(webhookId, { body: "", ...settled("delivered") });
      const { body } = await ann.v2("webhook.deliveries", { webhook_id: webhookId });
      expect(body["data"][0]).not.toHaveProperty("body");
    });
  });

  test("has the attempts of a delivery in order, with the answer or the reason of the failure", async () => {
    const { id } = await put(await newHook(), { attempts: 2 });
    await runOn(
      rig.db.url,
      `INSERT INTO delivery_attempt (delivery_id, number, at, status, failure, latency_ms, response)
       VALUES ('${id}', 2, 12999, 500, NULL, 30, 'oh no'), ('${id}', 1, 7000, NULL, 'timeout', 10000, NULL)`,
    );
    const { body } = await ann.v2("webhook.attempts", { delivery_id: id });
    expect(body["data"]).toEqual([
      { number: 1, at: 7, failure: "timeout", latency_ms: 10_000 },
      { number: 2, at: 12, status: 500, latency_ms: 30, response: "oh no" },
    ]);
  });

  describe("is sent again:", () => {
    test.each([
      "delivered",
      "failed",
      "cancelled",
    ] as const)("one delivery, %s before, at once", async (state) => {
      const webhookId = await newHook();
      const { id } = await put(webhookId, { attempts: 10, ...settled(state) });
      const { status, body } = await ann.v2("webhook.resend", { delivery_id: id });
      expect(status).toBe(200);
      const now = Math.floor(clock.now() / 1000);
      expect(body["delivery"]).toMatchObject({ id, state: "pending", attempts: 10, next_attempt_at: now });
      expect(body["delivery"]).not.toHaveProperty("settled_at");
      expect(await stateOf(rig.db.url, id)).toEqual({
        state: "pending",
        nextAt: clock.now(),
        settledAt: null,
      });
      expect(await pendingJobs(rig.db)).toContain(webhookId);
      const audit = await rig.auditRow("webhook.v2.WebhookService/ResendDelivery", id);
      expect(JSON.parse(String(audit["before"]))).toEqual({ state });
    });

    test("not while its webhook is inactive, and not without its body", async () => {
      const webhookId = await newHook();
      const { id } = await put(webhookId, settled("failed"));
      const empty = await put(webhookId, { body: "", ...settled("failed") });
      expect(await outcomeOf(webhooksOf(ann).resendDelivery({ deliveryId: empty.id }))).toBe(
        "FailedPrecondition: the delivery's body is no longer kept",
      );
      await webhooksOf(ann).updateWebhook({ webhookId, status: WebhookStatus.INACTIVE });
      const refusal = "FailedPrecondition: the webhook is inactive: webhook.update resumes it";
      expect(await outcomeOf(webhooksOf(ann).resendDelivery({ deliveryId: id }))).toBe(refusal);
      expect(await outcomeOf(webhooksOf(ann).recoverDeliveries({ webhookId, since: 0n }))).toBe(refusal);
      for (const one of [id, empty.id])
        expect(await stateOf(rig.db.url, one)).toMatchObject({ state: "failed" });
    });

    /**
     * A pending delivery whose first attempt was answered with 503; a second one that was taken has not
     * ended.
     */
    async function pending(webhookId: string, attempts: number) {
      const delivery = await put(webhookId, { createdAt: 30_000, attempts, nextAt: clock.now() + 300_000 });
      await runOn(
        rig.db.url,
        `INSERT INTO delivery_attempt (delivery_id, number, at, status, latency_ms) VALUES ('${delivery.id}', 1, 1000, 503, 1)`,
      );
      return delivery;
    }

    test("all that failed since a time or wait for their next attempt, and no others", async () => {
      const [webhookId, other] = [await newHook(), await newHook()];
      const failed = (createdAt: number, to = webhookId, body?: string) =>
        put(to, { createdAt, ...settled("failed"), ...(body === undefined ? {} : { body }) });
      const due = [await failed(20_000), await failed(30_000)];
      const left = [await failed(19_999), await failed(30_000, other), await failed(30_000, webhookId, "")];
      const delivered = await put(webhookId, { createdAt: 30_000, ...settled("delivered") });
      const [waits, runs] = [await pending(webhookId, 1), await pending(webhookId, 2)];
      const listed = await ann.v2("webhook.deliveries", { webhook_id: webhookId, state: "pending" });
      expect(listed.body["data"]).toContainEqual(
        expect.objectContaining({ id: waits.id, attempts: 1, last_status: 503 }),
      );
      const { body } = await ann.v2("webhook.recover", { webhook_id: webhookId, since: 20 });
      expect(body["recovered"]).toBe(3);
      expect(await stateOf(rig.db.url, runs.id)).toMatchObject({ nextAt: runs.nextAt });
      for (const { id } of [...due, waits])
        expect(await stateOf(rig.db.url, id)).toEqual({
          state: "pending",
          nextAt: clock.now(),
          settledAt: null,
        });
      for (const { id } of left) expect(await stateOf(rig.db.url, id)).toMatchObject({ state: "failed" });
      expect(await stateOf(rig.db.url, delivered.id)).toMatchObject({ state: "delivered" });
      expect(await pendingJobs(rig.db)).toContain(webhookId);
      expect((await ann.v2("webhook.recover", { webhook_id: webhookId, since: 20 })).body["recovered"]).toBe(
        0,
      );
    });

    test("nothing of a webhook that is deleted at the same time", async () => {
      const webhookId = await newHook();
      const { id } = await put(webhookId, settled("failed"));
      await Promise.all([
        ...Array.from({ length: 5 }, () => ann.v2("webhook.resend", { delivery_id: id })),
        ann.v2("webhook.delete", { webhook_id: webhookId }),
        ...Array.from({ length: 5 }, () => ann.v2("webhook.recover", { webhook_id: webhookId, since: 0 })),
      ]);
      const rows = await rowsIn(
        rig.db.url,
        `SELECT id FROM delivery WHERE webhook_id = '${webhookId}' AND state = 'pending'`,
      );
      expect(rows).toEqual([]);
    });
  });
});
