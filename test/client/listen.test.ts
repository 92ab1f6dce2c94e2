import { afterAll, describe, expect, test } from "vitest";
import { constructEvent, type ListenEvent } from "../../packages/client/src/index.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { createTask, listenAs } from "../webhooks/listen-rig.ts";
import { webhookRig } from "../webhooks/rig.ts";
import { languages } from "./languages.ts";

const { all, close } = languages();
afterAll(close);

describeOnOne("webhooks.listen of a client", (database) => {
  const rig = webhookRig(database);
  const listeners = () => rowsIn(rig.db.url, "SELECT * FROM webhook_listener");

  describe.each(all.map((language) => [language.name, language] as const))("in %s", (_name, {
    isMissing,
    open,
  }) => {
    test.skipIf(isMissing)(
      "yields the listener, then deliveries that verify with its secret, and ends it when the loop is left",
      async () => {
        const ann = await rig.person();
        const client = await open({ baseUrl: rig.service.url, apiKey: ann.key });
        const heard = client.listen({ event_types: ["task_created"] }, 3);
        await expect.poll(listeners).toHaveLength(1);
        const ids = [await createTask(ann), await createTask(ann)];
        const [listener, ...deliveries] = await heard;
        expect(listener).toMatchObject({
          type: "listener",
          event_types: ["task_created"],
          signed_url: expect.stringMatching(/^urn:/),
        });
        const { signing_secret: secret } = listener as Extract<ListenEvent, { type: "listener" }>;
        const events = deliveries.flatMap((each) =>
          each.type === "delivery" ? [constructEvent(each.body, each.headers, { secret })] : [],
        );
        expect(await Promise.all(events)).toMatchObject(
          ids.map((task_id) => ({ event_type: "task_created", task_detail: { task_id } })),
        );
        await expect.poll(listeners).toEqual([]);
      },
    );

    test.skipIf(isMissing)("throws the refusal of the server", async () => {
      const client = await open({ baseUrl: rig.service.url, apiKey: "sk-nobody" });
      await expect(client.listen({}, 1)).rejects.toMatchObject({
        name: "AuthenticationError",
        operation: "webhook.listen",
      });
    });
  });

  test("in TypeScript ends with the failure that the server sends, and with a lost connection", async () => {
    const ann = await rig.person();
    const listening = listenAs(ann, rig.service.url);
    await listening.ready;
    await rig.service.store.change((tx) => tx.listeners.purge(Date.now() + 7_200_000));
    await createTask(ann);
    expect(await listening.end).toBe("the listener was lost: listen again");
  });
});
