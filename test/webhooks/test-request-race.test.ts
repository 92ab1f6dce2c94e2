import { expect, test } from "vitest";
import type { Caller } from "../../src/core/accounts/caller.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import { apps } from "../../src/core/use-cases/manage-oauth-apps.ts";
import { appWebhooks } from "../../src/core/webhooks/app-webhooks.ts";
import type { AttemptResult } from "../../src/core/webhooks/delivery.ts";
import { testRequests } from "../../src/core/webhooks/test-request.ts";
import { webhooks } from "../../src/core/webhooks/webhooks.ts";
import { sampleWebhook } from "../store/samples.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne, storeOfSuite } from "../support/database.ts";
import { sampleApp } from "../support/oauth.ts";

const ann: Caller = {
  ...{ accountId: "ann", spaceId: "north", role: null, locale: "en" },
  credential: { kind: "key", keyKind: "general", id: "k", scopes: null },
};
const sent: AttemptResult = {
  at: 1,
  status: 204,
  failure: null,
  latencyMs: 1,
  response: null,
  delivered: true,
  retryAfter: null,
};

describeOnOne("between a test request and the change", (kind) => {
  const suite = storeOfSuite(kind);
  const parts = () => ({
    ...{ store: suite.store, clock: systemClock, ids: systemIds, random: systemRandom, cipher },
    ...{
      tests: testRequests({ send: async () => sent, clock: systemClock, appUrl: "https://app.example" }),
      rules: { plainLoopback: false },
    },
  });
  const put = async (members = {}) => {
    const webhook = sampleWebhook(members);
    await suite.store.change((tx) => tx.webhooks.insert(webhook));
    return webhook.id;
  };
  const resume = { status: "active", eventTypes: undefined, doubleHash: undefined } as const;
  const find = (id: string) => suite.store.webhooks.find({ ...ann, ofApps: true }, id);

  test("a webhook that is paused is not resumed without a test", async () => {
    const id = await put({ url: "https://hooks.example/paused" });
    const update = await webhooks(parts()).update(ann, id, resume);
    await suite.store.change((tx) => tx.webhooks.update(id, { status: "inactive" }));
    await expect(suite.store.change(update)).rejects.toMatchObject({ reason: "failed_precondition" });
    expect(await find(id)).toMatchObject({ status: "inactive" });
  });

  test("a webhook that is deleted stays deleted", async () => {
    const id = await put({ url: "https://hooks.example/deleted", status: "inactive" });
    const update = await webhooks(parts()).update(ann, id, resume);
    await suite.store.change((tx) => tx.webhooks.tombstone(id, 1));
    await expect(suite.store.change(update)).rejects.toMatchObject({ reason: "not_found" });
    expect(await find(id)).toBeNull();
  });

  test("an address is not used twice, and the last free webhook of the limit is not either", async () => {
    const url = "https://hooks.example/taken";
    const create = await webhooks(parts()).create(ann, { url, eventTypes: [] });
    await put({ url });
    await expect(suite.store.change(create)).rejects.toMatchObject({ reason: "already_exists" });
    const last = await webhooks(parts()).create(ann, { url: `${url}/last`, eventTypes: [] });
    for (let n = (await suite.store.webhooks.list(ann)).length; n < 20; n++)
      await put({ url: `${url}/${n}` });
    await expect(suite.store.change(last)).rejects.toMatchObject({ reason: "resource_exhausted" });
    expect(await suite.store.webhooks.list(ann)).toHaveLength(20);
  });

  test("an app's URL that is cleared is not set again without a test", async () => {
    const webhookUrl = "https://hooks.example/app";
    const app = sampleApp({ webhookUrl });
    const { clientId } = app;
    await suite.store.change((tx) => tx.apps.insert(app));
    const id = await put({ clientId, url: webhookUrl });
    const update = await apps({ ...parts(), webhooks: appWebhooks(parts()) }).update(
      ann,
      clientId,
      (present) => ({
        ...present,
        webhookUrl,
      }),
    );
    await suite.store.change(async (tx) => {
      await tx.apps.update({ ...app, webhookUrl: null });
      await tx.webhooks.tombstone(id, 1);
    });
    await expect(suite.store.change(update)).rejects.toMatchObject({ reason: "failed_precondition" });
    expect(await suite.store.apps.find(clientId)).toMatchObject({ webhookUrl: null });
    expect(await suite.store.webhooks.findOfApp(clientId)).toBeNull();
  });
});
