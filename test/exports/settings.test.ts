import { type DescMessage, type JsonObject, type MessageShape, toJson } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { InstalledConnector } from "../../src/core/connectors/connector.ts";
import { systemIds } from "../../src/core/ids.ts";
import { OAuth2GrantSchema } from "../../src/gen/proto/oauth/v2/oauth2_app_pb.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { InstalledConnectorSchema } from "../../src/gen/proto/settings/v1/connector_pb.ts";
import { ConnectorService } from "../../src/gen/proto/settings/v1/connector_service_pb.ts";
import { type FilePlatform, openFilePlatform } from "../files/files-rig.ts";
import { sampleConnector, sampleWebhook } from "../store/samples.ts";
import { describeOnOne, runOn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { putDelivery } from "../webhooks/deliveries.ts";
import { requestArchive } from "./export-rig.ts";

const secret = "open-sesame-4711";
const bytes = new TextEncoder().encode(secret);

describeOnOne("the settings of an archive", (kind) => {
  let platform: FilePlatform;
  let ann: Person;
  beforeAll(async () => {
    platform = await openFilePlatform(kind, { idle: false });
    ann = await platform.service.person();
  });
  afterAll(() => platform[Symbol.asyncDispose]());

  const of = ({ accountId, spaceId }: Person) => ({ accountId, spaceId });
  const signInAt = ({ accountId }: Person, time: "1000" | "NULL") =>
    runOn(
      platform.database.url,
      `UPDATE membership SET signed_in_at = ${time} WHERE account_id = '${accountId}'`,
    );
  const putConnector = (members: Partial<InstalledConnector>) =>
    platform.service.store.change((tx) =>
      tx.connectors.insert(sampleConnector({ credentials: bytes, ...members })),
    );
  const http = (url: string) => ({ transport: "http", url, auth: "header", header: "X-Key" }) as const;

  test("have the connectors as ListInstalled shows them, without credentials and without what follows the host of an address", async () => {
    const colleague = await platform.service.person({ with: ann });
    const tools = [{ name: "water", description: "Waters", inputSchema: { type: "object" } }];
    await putConnector({
      ...of(ann),
      name: "Mine",
      server: http(`https://mcp.example/s/${secret}?k=${secret}`),
      tools,
      toolsAt: 9000,
    });
    await putConnector({
      ...of(ann),
      accountId: null,
      name: "Ours",
      createdAt: 2000,
      policy: { water: "deny" },
    });
    await putConnector({ ...of(colleague), name: "Theirs" });
    const rows = (await requestArchive(platform, ann, "full")).files.json("connector.json");
    const { data } = await ann.client(ConnectorService).listInstalled({});
    expect(rows.map(({ name }) => name)).toEqual(["Mine", "Ours"]);
    expect(rows).toEqual(
      data
        .toReversed()
        .map((one) => wireForm(InstalledConnectorSchema, { ...one, url: one.url && "https://mcp.example" })),
    );
  });

  test("have the person's schedules as schedule.list shows them", async () => {
    const bo = await platform.service.person();
    for (const name of ["First", "Second"])
      await bo.v2("schedule.create", {
        schedule: { name, cron: "0 9 1 1 *", task: { message: { content: "Report." } } },
      });
    const rows = (await requestArchive(platform, bo, "full")).files.json("schedule.json");
    expect(rows).toEqual((await bo.v2("schedule.list")).body["data"].toReversed());
    expect(rows).toHaveLength(2);
  });

  test("have the webhooks and their deliveries as the API shows them, without secrets, bodies and responses", async () => {
    const cy = await platform.service.person();
    const { store } = platform.service;
    const webhook = sampleWebhook({
      ...of(cy),
      url: `https://hooks.example/s/${secret}`,
      secret: bytes,
      oldSecret: bytes,
    });
    await store.change((tx) => tx.webhooks.insert(webhook));
    await store.change((tx) =>
      tx.webhooks.insert(sampleWebhook({ ...of(cy), url: "https://app.example/", clientId: "client-1" })),
    );
    // The sender of this platform attempts pending ones.
    const settled = { state: "delivered", nextAt: null, settledAt: 9000 } as const;
    const put = (createdAt: number) =>
      putDelivery(store, {
        webhookId: webhook.id,
        createdAt,
        body: `{"url":"${secret}"}`,
        attempts: 2,
        ...settled,
      });
    const first = await put(1000);
    for (let at = 1; at <= 230; at += 1) await put(1000 + at);
    for (const [number, status] of [
      [2, 200],
      [1, 500],
    ])
      await runOn(
        platform.database.url,
        `INSERT INTO delivery_attempt (delivery_id, number, at, status, latency_ms, response) VALUES ('${first.id}', ${number}, 5000, ${status}, 7, '${secret}')`,
      );
    const { files } = await requestArchive(platform, cy, "full");
    const [{ deliveries, ...row }, ...others] = files.json("notifications.json");
    const listed = (await cy.v2("webhook.list", {})).body["data"];
    expect([others, row]).toEqual([[], { ...listed[0], url: "https://hooks.example" }]);
    expect(deliveries.length).toBe(231);
    const [{ attempt_log, ...delivery }] = deliveries;
    const page = (
      await cy.v2("webhook.deliveries", { webhook_id: webhook.id, created_before: 2, limit: 100 })
    ).body;
    const detail =
      (page["data"] as JsonObject[]).find(({ id }) => id === first.id) ??
      (await findDelivery(cy, webhook.id, first.id));
    expect({ ...delivery, body: `{"url":"${secret}"}` }).toEqual(detail);
    const attempts = (await cy.v2("webhook.attempts", { delivery_id: first.id })).body["data"];
    expect(attempt_log.map((one: JsonObject) => ({ ...one, response: secret }))).toEqual(attempts);
    const text = files.names.map((name) => files.read(name).toString()).join();
    expect(text).not.toContain(secret);
    const { files: bounded } = await requestArchive(platform, cy, "full", { startTime: 1001, endTime: 1002 });
    expect(bounded.json("notifications.json")[0].deliveries.length).toBe(2);
  });

  /** Reads pages until the delivery is found. */
  async function findDelivery(who: Person, webhook_id: string, id: string): Promise<unknown> {
    for (let cursor: string | undefined; ; ) {
      const { body } = await who.v2("webhook.deliveries", {
        webhook_id,
        limit: 100,
        ...(cursor ? { cursor } : {}),
      });
      const found = (body["data"] as JsonObject[]).find((one) => one["id"] === id);
      if (found || !body["has_more"]) return found;
      cursor = body["next_cursor"];
    }
  }

  test("have the person's language, agents and authorized apps as the API shows them, and empty files for what does not exist", async () => {
    const di = await platform.service.person();
    const { app } = await di
      .client(OAuth2AppService)
      .createOAuth2App({ name: "Garden", redirectUris: ["https://a.example/cb"] });
    const grant = {
      id: systemIds.short(),
      ...of(di),
      clientId: app?.clientId ?? "",
      scopes: ["create_task"] as const,
      connectorUids: [],
    };
    await platform.service.store.change((tx) =>
      tx.grants.lock({ ...grant, generation: 1, createdAt: 1000, updatedAt: 2000 }),
    );
    const agents = (await di.v2("agent.list", {})).body["data"];
    await di.v2("agent.update", { agent_id: agents[0].id, nickname: "Ada", about: "Brief" });
    await signInAt(di, "1000");
    const { files } = await requestArchive(platform, di, "full");
    expect(files.json("user_client_config.json")).toEqual([
      { user_id: di.accountId, locale: expect.stringMatching(/^[a-z]{2}/) },
    ]);
    expect(files.json("user_personalization.json")).toEqual((await di.v2("agent.list", {})).body["data"]);
    expect(files.json("user_personalization.json")).toMatchObject([{ nickname: "Ada", about: "Brief" }]);
    const { data } = await di.client(OAuth2AppService).listOAuth2Grants({});
    expect(files.json("oauth_grant.json")).toEqual(data.map((one) => wireForm(OAuth2GrantSchema, one)));
    for (const name of ["schedule", "user_knowledge", "connector", "notifications"])
      expect(files.json(`${name}.json`), name).toEqual([]);
  });

  test("contain no language of a person who never signed in to the team", async () => {
    const eve = await platform.service.person({ with: ann });
    await signInAt(eve, "NULL");
    expect((await requestArchive(platform, eve, "full")).files.json("user_client_config.json")).toEqual([]);
  });

  test("are only in the archive of everything", async () => {
    for (const scope of ["tasks", "project", "webdev_project"] as const) {
      const { names } = (await requestArchive(platform, ann, scope)).files;
      for (const name of ["connector.json", "notifications.json", "user_client_config.json"])
        expect(names).not.toContain(name);
    }
  });
});

/** A message in the form of v2: names with underscores, times as numbers. */
function wireForm<Desc extends DescMessage>(desc: Desc, message: MessageShape<Desc>): unknown {
  const form = toJson(desc, message, { useProtoFieldName: true, alwaysEmitImplicit: true });
  return JSON.parse(JSON.stringify(form), (name, value) => (name.endsWith("_at") ? Number(value) : value));
}
