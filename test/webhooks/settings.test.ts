import { beforeAll, describe, expect, test } from "vitest";
import { WebhookStatus } from "../../src/gen/proto/webhook/v2/webhook_pb.ts";
import { outcomeOf } from "../settings/settings-rig.ts";
import { describeOnOne, runOn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { putDelivery, stateOf } from "./deliveries.ts";
import { createTestApp, createTestWebhook, type Hook, webhookRig, webhooksOf } from "./rig.ts";

const dayMs = 24 * 3_600_000;

describeOnOne("a webhook's settings", (database) => {
  const clock = stillClock();
  const rig = webhookRig(database, { clock });
  let hook: Hook;
  beforeAll(async () => {
    hook = await rig.hook();
  });
  const newestOf = async (person: Person, id: string) =>
    (await webhooksOf(person).listWebhooks({})).data.find((webhook) => webhook.id === id);

  test("have a name, which changes and is removed", async () => {
    const ann = await rig.person();
    const { id } = await createTestWebhook(ann, `${hook.url}/name`, { name: "Billing" });
    expect((await newestOf(ann, id))?.name).toBe("Billing");
    await webhooksOf(ann).updateWebhook({ webhookId: id, name: "Ledger" });
    expect((await newestOf(ann, id))?.name).toBe("Ledger");
    const update = (name: string) => outcomeOf(webhooksOf(ann).updateWebhook({ webhookId: id, name }));
    expect(await update("a\u0007")).toContain("InvalidArgument: name: must have 1 to 100 characters");
    expect(await outcomeOf(createTestWebhook(ann, `${hook.url}/other`, { name: " x" }))).toContain(
      "InvalidArgument: name: must have",
    );
    await webhooksOf(ann).updateWebhook({ webhookId: id, name: "" });
    expect((await newestOf(ann, id))?.name).toBeUndefined();
  });

  describe("with a new address", () => {
    const move = (person: Person, webhookId: string, url: string) =>
      outcomeOf(webhooksOf(person).updateWebhook({ webhookId, url }));

    test("move after a signed test there; the secret and pending deliveries stay, and failures are counted from 0", async () => {
      const [ann, next] = [await rig.person(), await rig.hook()];
      const { id } = await createTestWebhook(ann, `${hook.url}/old`);
      const pending = await putDelivery(rig.service.store, { webhookId: id, nextAt: clock.now() });
      await runOn(rig.db.url, `UPDATE webhook SET failing_since = 5, failures = 3 WHERE id = '${id}'`);
      const before = await rig.service.store.webhooks.find({ ...ann, ofApps: false }, id);
      expect(await move(ann, id, `${next.url}/new`)).toBe("let in");
      expect(next.received).toMatchObject([{ path: "/new", body: { event_type: "webhook_test" } }]);
      const after = await rig.service.store.webhooks.find({ ...ann, ofApps: false }, id);
      expect(after).toEqual({ ...before, url: `${next.url}/new`, failingSince: null, failures: 0 });
      expect(await stateOf(rig.db.url, pending.id)).toMatchObject({ state: "pending" });
      const audit = await rig.auditRow("webhook.v2.WebhookService/UpdateWebhook", id);
      expect(JSON.parse(String(audit["before"]))).toMatchObject({ host: new URL(hook.url).host });
      expect(JSON.parse(String(audit["after"]))).toMatchObject({ host: new URL(next.url).host });
      expect(JSON.stringify(audit)).not.toContain("/new");
    });

    test("stay where they are when the test fails, also while inactive", async () => {
      const [ann, broken] = [await rig.person(), await rig.hook()];
      broken.answers = 500;
      const { id } = await createTestWebhook(ann, `${hook.url}/stay`);
      for (const status of [WebhookStatus.ACTIVE, WebhookStatus.INACTIVE]) {
        await webhooksOf(ann).updateWebhook({ webhookId: id, status });
        expect(await move(ann, id, broken.url)).toContain("InvalidArgument: url: the receiver answered");
        expect((await newestOf(ann, id))?.url).toBe(`${hook.url}/stay`);
      }
      expect(await move(ann, id, "ftp://hooks.example")).toContain("InvalidArgument: url: ");
      const moved = await webhooksOf(ann).updateWebhook({ webhookId: id, url: `${hook.url}/paused` });
      expect(moved.webhook).toMatchObject({ url: `${hook.url}/paused`, status: WebhookStatus.INACTIVE });
    });

    test("do not take an address of another webhook of the account, also when both move at the same time", async () => {
      const ann = await rig.person();
      const [first, second] = [
        await createTestWebhook(ann, `${hook.url}/one`),
        await createTestWebhook(ann, `${hook.url}/two`),
      ];
      const taken = "AlreadyExists: url: a webhook with this address already exists";
      expect(await move(ann, first.id, `${hook.url}/two`)).toBe(taken);
      const outcomes = await Promise.all([first, second].map(({ id }) => move(ann, id, `${hook.url}/three`)));
      expect(outcomes.toSorted()).toEqual([taken, "let in"].toSorted());
    });

    test("do not change for an app's webhook: its app has the address", async () => {
      const ann = await rig.person();
      const { webhookId } = await createTestApp(ann, `${hook.url}/app`);
      expect(await move(ann, webhookId, `${hook.url}/app-2`)).toBe(
        "FailedPrecondition: the address of an app's webhook is changed by the app's webhook_url",
      );
    });
  });

  test("have a health that counts the newest 1,000 deliveries of 7 days (spec/api.md 8.44)", async () => {
    const ann = await rig.person();
    const { id: webhookId } = await createTestWebhook(ann, `${hook.url}/health`);
    const health = async () => {
      const { $typeName, ...counts } = await webhooksOf(ann).getWebhookHealth({ webhookId });
      return counts;
    };
    expect(await health()).toEqual({ delivered: 0, failed: 0, pending: 0 });
    const { store } = rig.service;
    const createdAt = clock.now();
    for (const state of ["delivered", "delivered", "delivered", "failed", "pending", "cancelled"] as const)
      await putDelivery(store, {
        webhookId,
        state,
        createdAt,
        nextAt: state === "pending" ? createdAt : null,
      });
    await putDelivery(store, {
      webhookId,
      state: "failed",
      nextAt: null,
      createdAt: createdAt - 7 * dayMs - 1,
    });
    await runOn(rig.db.url, `UPDATE webhook SET failing_since = 5000 WHERE id = '${webhookId}'`);
    expect(await health()).toEqual({
      delivered: 3,
      failed: 1,
      pending: 1,
      failureRate: 0.25,
      failingSince: 5n,
    });
    const bo = await rig.person({ with: ann });
    expect(await outcomeOf(webhooksOf(bo).getWebhookHealth({ webhookId }))).toBe(
      "NotFound: webhook not found",
    );
    expect((await store.deliveryLog.tally(webhookId, 0, 2)).pending).toBeLessThanOrEqual(2);
    const tally = await store.deliveryLog.tally(webhookId, 0, 3);
    expect(Object.values(tally).reduce((sum, count) => sum + count, 0)).toBe(3);
  });

  test("of all members are listed for the owner alone, without path, secret or apps", async () => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann });
    const own = await createTestWebhook(ann, `${hook.url}/secret-of-ann`);
    const hers = await createTestWebhook(bo, `${hook.url}/secret-of-bo`, { name: "Bo's" });
    await createTestApp(ann, `${hook.url}/app-of-ann`);
    const first = await webhooksOf(ann).listTeamWebhooks({ limit: 1 });
    const second = await webhooksOf(ann).listTeamWebhooks({ limit: 1, cursor: first.nextCursor ?? "" });
    const found = [...first.data, ...second.data].map(({ id, userId, host, name }) => ({
      id,
      userId,
      host,
      name,
    }));
    const host = new URL(hook.url).host;
    expect(found).toHaveLength(2);
    expect(found).toEqual(
      expect.arrayContaining([
        { id: own.id, userId: ann.accountId, host, name: undefined },
        { id: hers.id, userId: bo.accountId, host, name: "Bo's" },
      ]),
    );
    expect(second.hasMore).toBe(false);
    expect(JSON.stringify((await ann.v2("webhook.teamList")).body)).not.toMatch(/secret/);
    for (const role of ["super_admin", "admin", "member", "guest"] as const)
      expect(await outcomeOf(webhooksOf(await rig.person({ with: ann, role })).listTeamWebhooks({}))).toMatch(
        /^PermissionDenied: /,
      );
  });
});
