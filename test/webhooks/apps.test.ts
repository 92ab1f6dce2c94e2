import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { beforeAll, expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { WebhookEventType } from "../../src/gen/proto/webhook/v2/webhook_pb.ts";
import { appsOf, garden, outcomeOf } from "../settings/settings-rig.ts";
import { describeOnOne, rowsIn, runOn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { putDelivery, stateOf } from "./deliveries.ts";
import { createTestApp, type Hook, webhookRig, webhooksOf } from "./rig.ts";

describeOnOne("an app's webhook", (database) => {
  const rig = webhookRig(database);
  let owner: Person;
  let ann: Person;
  let hook: Hook;
  beforeAll(async () => {
    owner = await rig.person();
    ann = await rig.person({ with: owner });
    hook = await rig.hook();
  });

  const rowsOf = (clientId: string) =>
    rowsIn(
      rig.db.url,
      `SELECT id, account_id, url, status FROM webhook WHERE client_id = '${clientId}' AND deleted_at IS NULL`,
    );
  const clear = { webhookUrl: "", updateMask: create(FieldMaskSchema, { paths: ["webhook_url"] }) };

  test("is created with the app's URL, after the test request, and belongs to the creator", async () => {
    const ownHook = await rig.hook();
    const { clientId, webhookId } = await createTestApp(ann, `${ownHook.url}?secret=deadbeef`);
    expect(await rowsOf(clientId)).toEqual([
      { id: webhookId, account_id: ann.accountId, url: `${ownHook.url}/?secret=deadbeef`, status: "active" },
    ]);
    expect(ownHook.received.map(({ body }) => body.event_id)).toEqual([
      expect.stringContaining(`webhook_test_${webhookId}_`),
    ]);
    expect((await appsOf(owner).getOAuth2App({ clientId })).app).toMatchObject({
      webhookId,
      webhookUrl: `${ownHook.url}/?secret=deadbeef`,
    });
    expect(
      (await appsOf(owner).listOAuth2Apps({})).data.find((app) => app.clientId === clientId)?.webhookId,
    ).toBe(webhookId);
    // It is the app's, and not in its creator's list or one of the 20.
    expect((await webhooksOf(ann).listWebhooks({})).data.map(({ id }) => id)).not.toContain(webhookId);
  });

  test.each([
    [
      "http elsewhere",
      async () => "http://a.example/",
      "webhook_url: is not a valid webhook URL: must begin with https://",
    ],
    [
      "a fragment",
      async () => "https://a.example/#f",
      "webhook_url: is not a valid webhook URL: must have no fragment",
    ],
    ["a private address", async () => "https://192.168.0.1/", "webhook_url: the address is not public"],
    [
      "a receiver that refuses the test",
      async () => Object.assign(await rig.hook(), { answers: 500 }).url,
      "webhook_url: the receiver answered the test request with 500, not with 2xx",
    ],
  ])("is refused with %s, when the app is made and when it is changed, and nothing is stored", async (_what, urlOf, why) => {
    const carl = await rig.person();
    const webhookUrl = await urlOf();
    expect(await outcomeOf(appsOf(carl).createOAuth2App({ ...garden, webhookUrl }))).toBe(
      `InvalidArgument: ${why}`,
    );
    expect((await appsOf(carl).listOAuth2Apps({})).data).toEqual([]);
    const { clientId, webhookId } = await createTestApp(carl, hook.url);
    expect(await outcomeOf(appsOf(carl).updateOAuth2App({ clientId, name: "Orchard", webhookUrl }))).toBe(
      `InvalidArgument: ${why}`,
    );
    expect((await appsOf(carl).getOAuth2App({ clientId })).app).toMatchObject({
      name: "Garden",
      webhookUrl: `${hook.url}/`,
      webhookId,
    });
    expect(await rowsOf(clientId)).toHaveLength(1);
  });

  test("is replaced when the URL changes, with the same event types, and pending deliveries of the old one are cancelled", async () => {
    const [first, second] = [await rig.hook(), await rig.hook()];
    const { clientId, webhookId } = await createTestApp(ann, first.url);
    await webhooksOf(ann).updateWebhook({ webhookId, eventTypes: [WebhookEventType.TASK_FAILED] });
    const { id } = await putDelivery(rig.service.store, { webhookId });
    const { app } = await appsOf(ann).updateOAuth2App({ clientId, webhookUrl: second.url });
    expect(app?.webhookId).not.toBe(webhookId);
    expect(await rowsOf(clientId)).toMatchObject([{ id: app?.webhookId, url: `${second.url}/` }]);
    expect(await stateOf(rig.db.url, id)).toMatchObject({ state: "cancelled", nextAt: null });
    const { webhook } = await webhooksOf(ann).updateWebhook({ webhookId: app?.webhookId ?? "" });
    expect(webhook?.eventTypes).toEqual([WebhookEventType.TASK_FAILED]);
    expect([first.received.length, second.received.length]).toEqual([1, 1]);
  });

  test("stays unchanged, and is not tested, when another member changes or the same URL is set", async () => {
    const ownHook = await rig.hook();
    const { clientId, webhookId } = await createTestApp(ann, ownHook.url);
    const { app } = await appsOf(ann).updateOAuth2App({ clientId, name: "Orchard", webhookUrl: ownHook.url });
    expect(app).toMatchObject({ name: "Orchard", webhookId });
    expect(ownHook.received).toHaveLength(1);
  });

  test.each([
    ["its URL is cleared", (clientId: string) => appsOf(ann).updateOAuth2App({ clientId, ...clear })],
    ["the app is deleted", (clientId: string) => appsOf(ann).deleteOAuth2App({ clientId })],
  ])("is gone when %s, and what it was still to be sent is cancelled", async (_why, end) => {
    const { clientId, webhookId } = await createTestApp(ann, `${hook.url}/${systemIds.short()}`);
    const { id } = await putDelivery(rig.service.store, { webhookId });
    await end(clientId);
    expect(await rowsOf(clientId)).toEqual([]);
    expect(await stateOf(rig.db.url, id)).toMatchObject({ state: "cancelled" });
    expect(await outcomeOf(webhooksOf(ann).listDeliveries({ webhookId }))).toBe(
      "NotFound: webhook not found",
    );
  });

  test("is exactly one, for any winner, when ten calls set and clear its URL at once", async () => {
    const ownHook = await rig.hook();
    const { clientId } = await createTestApp(ann, hook.url);
    const edits = Array.from({ length: 10 }, (_, n) =>
      n % 3 === 0 ? clear : { webhookUrl: `${ownHook.url}/${n}` },
    );
    const answers = await Promise.all(
      edits.map((edit) => outcomeOf(appsOf(ann).updateOAuth2App({ clientId, ...edit }))),
    );
    expect(
      answers.filter((answer) => answer !== "let in" && !answer.startsWith("FailedPrecondition: ")),
    ).toEqual([]);
    const { app } = await appsOf(ann).getOAuth2App({ clientId });
    const urls = (await rowsOf(clientId)).map(({ url }) => url);
    expect(urls).toEqual(app?.webhookUrl ? [app.webhookUrl] : []);
  });

  test("has a log for every user who may change the app, with the answers' texts only for its creator", async () => {
    const { webhookId } = await createTestApp(ann, `${hook.url}/log`);
    const { id } = await putDelivery(rig.service.store, {
      webhookId,
      state: "failed",
      nextAt: null,
      settledAt: 1,
      attempts: 1,
    });
    await runOn(
      rig.db.url,
      `INSERT INTO delivery_attempt (delivery_id, number, at, status, failure, latency_ms, response) VALUES ('${id}', 1, 1000, 500, NULL, 1, 'oh no')`,
    );
    const seen = async (person: Person) => {
      const { data } = await webhooksOf(person).listDeliveries({ webhookId });
      const { data: attempts } = await webhooksOf(person).listDeliveryAttempts({ deliveryId: id });
      return [data.map((delivery) => delivery.body !== undefined), attempts.map(({ response }) => response)];
    };
    expect(await seen(ann)).toEqual([[true], ["oh no"]]);
    for (const role of ["super_admin", "admin"] as const) {
      expect(await seen(await rig.person({ with: owner, role }))).toEqual([[false], [undefined]]);
    }
    expect(await seen(owner)).toEqual([[false], [undefined]]);
    expect((await webhooksOf(owner).resendDelivery({ deliveryId: id })).delivery).not.toHaveProperty("body");
    for (const other of [
      await rig.person({ with: owner }),
      await rig.person(),
      await rig.person({ as: ann }),
    ]) {
      expect(await outcomeOf(webhooksOf(other).listDeliveries({ webhookId }))).toBe(
        "NotFound: webhook not found",
      );
      expect(await outcomeOf(webhooksOf(other).listDeliveryAttempts({ deliveryId: id }))).toBe(
        "NotFound: delivery not found",
      );
      expect(await outcomeOf(webhooksOf(other).rotateWebhookSecret({ webhookId }))).toBe(
        "NotFound: webhook not found",
      );
    }
  });

  test("gets its first secret by webhook.rotateSecret", async () => {
    const { webhookId } = await createTestApp(ann, `${hook.url}/secret`);
    expect((await webhooksOf(ann).rotateWebhookSecret({ webhookId })).signingSecret).toMatch(/^whsec_/);
  });

  /**
   * A task of a member with a grant for an app of the team, and whether the app's webhook may receive its
   * events.
   */
  async function taskOfMember(member: Person) {
    const { store } = rig.service;
    const { accountId, spaceId } = member;
    const { clientId, webhookId } = await createTestApp(owner, `${hook.url}/${systemIds.short()}`);
    const grant = { id: systemIds.short(), accountId, spaceId, clientId, scopes: [], connectorUids: [] };
    await store.change((tx) => tx.grants.lock({ ...grant, generation: 1, createdAt: 1, updatedAt: 1 }));
    const taskId: string = (await member.v2("task.create", { message: { content: "Hi" } })).body["task_id"];
    const { id } = await putDelivery(store, { webhookId, taskId });
    const mayReceive = async () => {
      const due = await store.deliveries.due(Date.now(), { max: 1000, perWebhook: 1000, full: [] });
      return due.find((delivery) => delivery.id === id)?.mayReceive;
    };
    return { taskId, clientId, grant, may: mayReceive };
  }

  test("receives events of a task while its user has a grant and is an active member of the app's team (spec/decisions.md 43)", async () => {
    const member = await rig.person({ with: owner });
    const { accountId, spaceId } = member;
    const { taskId, grant, may: mayReceive } = await taskOfMember(member);
    expect(await mayReceive()).toBe(true);
    const status = (to: string) =>
      runOn(
        rig.db.url,
        `UPDATE membership SET status = '${to}' WHERE account_id = '${accountId}' AND space_id = '${spaceId}'`,
      );
    for (const away of ["inactive", "removed"]) {
      await status(away);
      expect(await mayReceive()).toBe(false);
    }
    await status("active");
    expect(await mayReceive()).toBe(true);
    await member.v2("task.stop", { task_id: taskId });
    await member.v2("task.delete", { task_id: taskId });
    expect(await mayReceive()).toBe(true);
    await rig.service.store.change((tx) => tx.grants.revoke(grant.id, 1));
    expect(await mayReceive()).toBe(false);
  });

  test("receives no events by the grant of another member, or of another app", async () => {
    const [one, other] = [
      await taskOfMember(await rig.person({ with: owner })),
      await taskOfMember(await rig.person({ with: owner })),
    ];
    await rig.service.store.change((tx) => tx.grants.revoke(one.grant.id, 1));
    expect([await one.may(), await other.may()]).toEqual([false, true]);
  });
});
