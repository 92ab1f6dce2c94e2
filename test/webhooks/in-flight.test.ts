import { expect, test } from "vitest";
import { describeOnPostgres, nodesOf, rowsIn } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";
import type { Person } from "../support/service.ts";
import { createTestWebhook, webhookRig, webhooksOf } from "./rig.ts";

describeOnPostgres("a delivery in flight", (database) => {
  const rig = webhookRig(database, { idle: false, nodes: nodesOf(database) });
  const create = async (person: Person): Promise<string> =>
    (await person.v2("task.create", { message: { content: "[[forever]]" } })).body["task_id"];
  const rowsOf = (webhookId: string) =>
    rowsIn(rig.db.url, `SELECT state, attempts, next_at FROM delivery WHERE webhook_id = '${webhookId}'`);
  const events = (received: readonly { readonly body: { readonly event_type: string } }[]) =>
    received.map(({ body }) => body.event_type);

  test("when its webhook is deleted is not retried, with any outcome", async () => {
    const ann = await rig.person();
    const hook = await rig.hook();
    const { id } = await createTestWebhook(ann, hook.url);
    const { promise, resolve } = Promise.withResolvers<number>();
    hook.answers = promise;
    const taskId = await create(ann);
    await hook.waitForRequests(2);
    expect(events(hook.received)).toEqual(["webhook_test", "task_created"]);
    expect((await ann.v2("webhook.delete", { webhook_id: id })).status).toBe(200);
    resolve(500);
    await expect
      .poll(
        () =>
          rowsIn(
            rig.db.url,
            `SELECT a.status FROM delivery_attempt a JOIN delivery d ON d.id = a.delivery_id WHERE d.webhook_id = '${id}'`,
          ),
        { timeout: hangMs },
      )
      .toHaveLength(1);
    expect(await rowsOf(id)).toEqual([expect.objectContaining({ state: "cancelled", next_at: null })]);
    await ann.v2("task.stop", { task_id: taskId });
    expect(await rowsOf(id)).toHaveLength(1);
    expect(hook.received).toHaveLength(2);
  });

  test("that failed is sent at once when it is sent again, with the same body, and both attempts are in the log", async () => {
    const ann = await rig.person();
    const hook = await rig.hook();
    const { id: webhookId } = await createTestWebhook(ann, hook.url);
    hook.answers = 500;
    const taskId = await create(ann);
    await hook.waitForRequests(2);
    hook.answers = 204;
    const { data } = await webhooksOf(ann).listDeliveries({ webhookId, taskId });
    await webhooksOf(ann).resendDelivery({ deliveryId: data[0]?.id ?? "" });
    await expect.poll(async () => (await rowsOf(webhookId)).map(({ state }) => state)).toEqual(["delivered"]);
    const { data: attempts } = await webhooksOf(ann).listDeliveryAttempts({ deliveryId: data[0]?.id ?? "" });
    expect(attempts.map(({ status }) => status)).toEqual([...attempts.slice(1).map(() => 500), 204]);
    const bodies = hook.received
      .filter(({ body }) => body.event_type === "task_created")
      .map(({ body }) => JSON.stringify(body));
    expect(new Set(bodies).size).toBe(1);
    await ann.v2("task.stop", { task_id: taskId });
  });
});
