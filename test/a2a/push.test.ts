import { randomUUID } from "node:crypto";
import { ListTaskPushNotificationConfigsResponse, StreamResponse } from "@a2a-js/sdk";
import { describe, expect, test } from "vitest";
import type { KeyScope } from "../../src/core/accounts/key-scopes.ts";
import { openTestStore } from "../support/database.ts";
import { hangMs } from "../support/patience.ts";
import { type Calling, openService, type Service } from "../support/service.ts";
import { storedText } from "../support/stored-text.ts";
import { taskRig } from "../support/task-rig.ts";
import { tokenOf } from "../support/token.ts";
import { a2aClient, asTask, bindings, readCard, sending, text, withEvents } from "./client.ts";
import { openReceiver } from "./receiver.ts";

const env = { A2A: "on", A2A_PROFILES: "manus-1.6", WEBHOOK_ALLOW: "loopback" };
const rig = taskRig({ env });
const secrets = { token: "token-7f3a", authentication: { scheme: "Bearer", credentials: "credential-91bc" } };
const configAt = (url: string, more: object = {}) => ({
  tenant: "",
  id: "",
  taskId: "",
  url,
  ...secrets,
  ...more,
});

/**
 * An item of a stream without what differs in a notification: the time of a state, which is that of the event
 * there, and the signature of a link.
 */
function plain(json: unknown): unknown {
  const item = StreamResponse.toJSON(StreamResponse.fromJSON(json)) as Record<
    string,
    { status?: { timestamp?: unknown } }
  >;
  delete item["statusUpdate"]?.status?.timestamp;
  return JSON.parse(JSON.stringify(item).replaceAll(/(downloads\/[^/]+)\/[^"]+/g, "$1"));
}
/** Whether an item is a part of a text: notifications have complete texts only. */
const isDelta = (item: unknown) => JSON.stringify(item).includes('"delta"');

/** Returns the result of a call, or the reason of its error. */
async function callA2a(
  { url }: Pick<Service, "url">,
  method: string,
  params: object,
  { headers }: Pick<Calling, "headers">,
) {
  const answer = await fetch(`${url}/a2a`, {
    method: "POST",
    headers: { "a2a-version": "1.0", "content-type": "application/json", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: answers are read as the client sees them
  const { result, error } = (await answer.json()) as any;
  return error ? error.data[0].reason : result;
}

describe("push notifications of A2A (spec/api.md 8.124)", () => {
  test.each(bindings)("a receiver gets what a stream has, in its order, over %s", async (binding) => {
    await using receiver = await openReceiver();
    const { url } = rig.service;
    const card = await readCard(url);
    expect(card.capabilities?.pushNotifications).toBe(true);
    const client = await a2aClient(url, card, binding);
    const headers =
      binding === "GRPC" ? { serviceParameters: { ...rig.ann.headers } } : withEvents(rig.ann.headers);
    const collect = async (request: ReturnType<typeof sending>) => {
      const items: StreamResponse[] = [];
      for await (const item of client.sendMessageStream(request, headers)) items.push(item);
      return items;
    };
    const first = sending(
      text(
        "[[plan A|B]] [[step]] [[progress Reading]] [[ask Which colour?]] [[file a.txt | x]] [[say Done]]",
      ),
    );
    const config = configAt(`${receiver.url}/hook?a=1`);
    const asked = await collect({
      ...first,
      configuration: { ...first.configuration, taskPushNotificationConfig: config } as never,
    });
    const [begin] = asked;
    const taskId = begin?.payload?.$case === "task" ? begin.payload.value.id : "";
    const ended = await collect(sending(text("blue"), { taskId }));
    const items = [...asked.slice(1), ...ended.slice(1)]
      .map((item) => plain(StreamResponse.toJSON(item)))
      .filter((item) => !isDelta(item));
    const got = await receiver.until(items.length);
    expect(got.map(({ body }) => plain(body))).toEqual(items);
    expect(got[0]).toMatchObject({
      path: "/hook?a=1",
      headers: {
        "content-type": "application/a2a+json",
        "a2a-version": "1.0",
        "x-a2a-notification-token": secrets.token,
        authorization: `Bearer ${secrets.authentication.credentials}`,
      },
    });
    const { configs } = await client.listTaskPushNotificationConfig(
      { tenant: "", taskId, pageSize: 0, pageToken: "" },
      headers,
    );
    expect(configs).toMatchObject([{ taskId, url: config.url, token: "" }]);
  });

  test("clients create, read, list by page, replace and delete configurations over each binding, and no answer has a secret", async () => {
    const card = await readCard(rig.service.url);
    for (const binding of bindings) {
      const client = await a2aClient(rig.service.url, card, binding);
      const by = { serviceParameters: { ...rig.ann.headers } };
      const taskId = await rig.create("[[forever]]");
      const url = "http://127.0.0.1:9/a";
      const shown = {
        id: "one",
        taskId,
        url,
        token: "",
        authentication: { scheme: "Bearer", credentials: "" },
      };
      expect(
        await client.createTaskPushNotificationConfig(configAt(url, { taskId, id: "one" }), by),
      ).toMatchObject(shown);
      const made = await client.createTaskPushNotificationConfig(
        { ...configAt(url, { taskId }), token: "", authentication: undefined },
        by,
      );
      expect(made).toMatchObject({ taskId, url, authentication: undefined });
      expect(made.id).toMatch(/^\w{10,}$/);
      expect(await client.getTaskPushNotificationConfig({ tenant: "", taskId, id: "one" }, by)).toMatchObject(
        shown,
      );
      const replaced = configAt(`${url}/2`, { taskId, id: "one" });
      expect(await client.createTaskPushNotificationConfig(replaced, by)).toMatchObject({
        id: "one",
        url: replaced.url,
      });
      const both = [
        ["one", replaced.url],
        [made.id, url],
      ].toSorted();
      const pageAt = async (pageToken: string) => {
        // The library's client of HTTP+JSON asks for no page.
        if (binding !== "HTTP+JSON")
          return client.listTaskPushNotificationConfig({ tenant: "", taskId, pageSize: 1, pageToken }, by);
        const path = `/a2a/tasks/${taskId}/pushNotificationConfigs?pageSize=1&pageToken=${pageToken}`;
        const answer = await fetch(rig.service.url + path, {
          headers: { ...rig.ann.headers, "a2a-version": "1.0" },
        });
        return ListTaskPushNotificationConfigsResponse.fromJSON(await answer.json());
      };
      const first = await pageAt("");
      const second = await pageAt(first.nextPageToken);
      expect([...first.configs, ...second.configs].map(({ id, url: at }) => [id, at]).toSorted()).toEqual(
        both,
      );
      expect([first.configs.length, second.nextPageToken]).toEqual([1, ""]);
      const of = { tenant: "", taskId, id: "one" };
      await client.deleteTaskPushNotificationConfig(of, by);
      await client.deleteTaskPushNotificationConfig(of, by);
      await expect(client.getTaskPushNotificationConfig(of, by)).rejects.toThrow(
        "push notification configuration",
      );
      await rig.ann.v2("task.stop", { task_id: taskId });
    }
  });

  test("a limited key needs task:read and webhook:write to create, change or delete one, and task:read to read it", async () => {
    await using receiver = await openReceiver();
    const taskId = await rig.create("[[forever]]");
    const keyWith = (...scopes: KeyScope[]) =>
      rig.service.person({ with: rig.ann, as: rig.ann, restrictions: { scopes } });
    const [writer, reader, hooks] = [
      await keyWith("task:write"),
      await keyWith("task:read"),
      await keyWith("webhook:write", "task:write"),
    ];
    const full = await keyWith("task:read", "webhook:write", "task:write");
    const config = { taskId, url: receiver.url, id: "c" };
    for (const key of [writer, reader, hooks]) {
      expect(await callA2a(rig.service, "CreateTaskPushNotificationConfig", config, key)).toBe(
        "PERMISSION_DENIED",
      );
      expect(await callA2a(rig.service, "DeleteTaskPushNotificationConfig", config, key)).toBe(
        "PERMISSION_DENIED",
      );
      const message = { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "more" }], taskId };
      const sent = {
        message,
        configuration: { taskPushNotificationConfig: config, returnImmediately: true },
      };
      expect(await callA2a(rig.service, "SendMessage", sent, key)).toBe("PERMISSION_DENIED");
    }
    expect(await callA2a(rig.service, "CreateTaskPushNotificationConfig", config, full)).toMatchObject({
      id: "c",
    });
    expect(await callA2a(rig.service, "GetTaskPushNotificationConfig", config, reader)).toMatchObject({
      id: "c",
    });
    expect(await callA2a(rig.service, "GetTaskPushNotificationConfig", config, hooks)).toBe(
      "PERMISSION_DENIED",
    );
    expect((await rig.events(taskId)).filter(({ type }) => type === "user_message")).toHaveLength(1);
    expect((await rig.service.store.pushConfigs.ofTask(taskId)).map(({ apiKeyId }) => apiKeyId)).toEqual([
      full.keyId,
    ]);
    await rig.ann.v2("task.stop", { task_id: taskId });
  });

  test("webhook.list has the configurations of the account when the request includes them, and webhook.delete deletes one", async () => {
    const eve = await rig.service.person();
    const bo = await rig.service.person({ with: eve, role: "member" });
    const taskId = await rig.create("[[forever]]", {}, eve);
    const config = { taskId, url: "http://127.0.0.1:9/a?secret=1", id: "c".repeat(128) };
    await callA2a(rig.service, "CreateTaskPushNotificationConfig", config, eve);
    expect((await eve.v2("webhook.list")).body["data"]).toEqual([]);
    const listed = async (who = eve) =>
      (await who.v2("webhook.list", { include_task_pushes: true })).body["data"];
    const [push] = (await listed()) as [{ id: string }];
    expect(await listed()).toMatchObject([
      { kind: "a2a_push", task_id: taskId, url: config.url, status: "active" },
    ]);
    expect(await listed(bo)).toEqual([]);
    const hooks = await rig.service.person({
      with: eve,
      as: eve,
      restrictions: { scopes: ["webhook:read", "webhook:write"] },
    });
    expect((await hooks.v2("webhook.list", { include_task_pushes: true })).status).toBe(403);
    for (const [who, id] of [
      [bo, push.id],
      [eve, `${push.id.slice(0, -1)}x`],
    ] as const)
      expect((await who.v2("webhook.delete", { webhook_id: id })).status).toBe(404);
    expect((await hooks.v2("webhook.delete", { webhook_id: push.id })).status).toBe(200);
    expect(await listed()).toEqual([]);
    expect((await eve.v2("webhook.delete", { webhook_id: push.id })).status).toBe(404);
    const { body } = await eve.v2("audit.list", { operation: "webhook.v2.WebhookService/DeleteWebhook" });
    expect(body["data"]).toMatchObject([
      { subject: push.id, before: { task: taskId, push: config.id, host: "127.0.0.1:9" } },
    ]);
    await eve.v2("task.stop", { task_id: taskId });
  });

  test("a configuration is found by its own app or, without one, by its person's keys; who may not write to the task creates none", async () => {
    const taskId = await rig.create("[[forever]]");
    const url = "http://127.0.0.1:9/a";
    const call = (method: string, params: object, by: Pick<Calling, "headers">) =>
      callA2a(rig.service, method, params, by);
    const create = (params: object, by: Pick<Calling, "headers"> = rig.ann) =>
      call("CreateTaskPushNotificationConfig", { taskId, url, id: "c", ...params }, by);
    const bo = await rig.service.person({ with: rig.ann, role: "member" });
    const app = await tokenOf(rig.service, rig.ann, { scopes: ["manage_all_tasks"] });
    const weak = await tokenOf(rig.service, rig.ann);
    const reader = await rig.service.person({
      with: rig.ann,
      as: rig.ann,
      restrictions: { scopes: ["task:read"] },
    });
    expect(await create({})).toMatchObject({ id: "c" });
    const of = { taskId, id: "c" };
    expect(await call("GetTaskPushNotificationConfig", of, reader)).toMatchObject({ id: "c" });
    expect(await create({}, reader)).toBe("PERMISSION_DENIED");
    expect(await call("DeleteTaskPushNotificationConfig", of, reader)).toBe("PERMISSION_DENIED");
    expect(await call("ListTaskPushNotificationConfigs", { taskId }, app)).toEqual({});
    expect(await call("DeleteTaskPushNotificationConfig", of, app)).toEqual({});
    for (const stranger of [bo, weak, await rig.service.person()]) {
      expect(await create({}, stranger)).toBe("TASK_NOT_FOUND");
      for (const method of [
        "GetTaskPushNotificationConfig",
        "ListTaskPushNotificationConfigs",
        "DeleteTaskPushNotificationConfig",
      ])
        expect(await call(method, of, stranger)).toBe("TASK_NOT_FOUND");
    }
    expect(await call("GetTaskPushNotificationConfig", of, app)).toBe("TASK_NOT_FOUND");
    expect(await call("GetTaskPushNotificationConfig", of, rig.ann)).toMatchObject({ id: "c" });

    const long = (length: number) => "x".repeat(length);
    for (const bad of [
      ...[
        { url: "" },
        { url: "http://hooks.example/" },
        { url: "https://u@hooks.example/" },
        { url: "nonsense" },
      ],
      ...[{ url: `https://hooks.example/${long(2048)}` }, { taskId: "" }, { id: long(129) }, { id: "a b" }],
      ...[
        { token: long(1025) },
        { token: "a\r\nb" },
        { authentication: {} },
        { authentication: { scheme: "a b" } },
      ],
      ...[
        { authentication: { scheme: "Bearer", credentials: long(4097) } },
        { authentication: { scheme: "Bearer", credentials: "a\nb" } },
      ],
    ])
      expect(await create(bad), JSON.stringify(bad)).toBe("INVALID_PARAMS");
    expect(await call("ListTaskPushNotificationConfigs", { taskId, pageSize: -1 }, rig.ann)).toBe(
      "INVALID_PARAMS",
    );
    expect(await call("ListTaskPushNotificationConfigs", { taskId, pageToken: "x" }, rig.ann)).toBe(
      "INVALID_PARAMS",
    );
    const more = await Promise.all(Array.from({ length: 12 }, (_, index) => create({ id: `n${index}` })));
    expect(more.filter((reason) => reason === "RESOURCE_EXHAUSTED")).toHaveLength(3);
    const message = { messageId: randomUUID(), role: "ROLE_USER", parts: [{ text: "more" }], taskId };
    const sent = { message, configuration: { taskPushNotificationConfig: { url }, returnImmediately: true } };
    expect(await call("SendMessage", sent, rig.ann)).toBe("RESOURCE_EXHAUSTED");
    const mismatch = { ...sent, configuration: { taskPushNotificationConfig: { url, taskId: "another" } } };
    expect(await call("SendMessage", mismatch, rig.ann)).toBe("INVALID_PARAMS");
    expect((await rig.events(taskId)).filter(({ type }) => type === "user_message")).toHaveLength(1);
    await rig.ann.v2("task.stop", { task_id: taskId });
  });

  test("a message that is sent again has one configuration; private addresses are refused; neither database nor log has a secret", async () => {
    await using database = await openTestStore("sqlite");
    await using service = await openService({ over: database, env });
    const { store, url } = service;
    const eve = await service.person();
    const client = await a2aClient(url, await readCard(url), "HTTP+JSON");
    const by = { serviceParameters: { ...eve.headers } };
    const config = configAt("https://10.1.2.3/hook");
    const sent = sending(text("[[progress Half]] [[forever]]"), { returnImmediately: true });
    const request = {
      ...sent,
      configuration: { ...sent.configuration, taskPushNotificationConfig: config } as never,
    };
    const { id: taskId } = asTask(await client.sendMessage(request, by));
    expect(asTask(await client.sendMessage(request, by)).id).toBe(taskId);
    const rows = () => store.pushConfigs.ofTask(taskId);
    await expect
      .poll(async () => (await rows()).map(({ lastError }) => lastError), { timeout: hangMs })
      .toEqual(["address_refused"]);
    const stored = await storedText(database.url);
    const logged = JSON.stringify(service.logged);
    for (const secret of [secrets.token, secrets.authentication.credentials])
      for (const place of [stored, logged]) expect(place).not.toContain(secret);
    expect(logged).toContain("push notifications of a task fail");
    await eve.v2("task.stop", { task_id: taskId });
    await eve.v2("task.delete", { task_id: taskId });
    await expect.poll(rows, { timeout: hangMs }).toEqual([]);
    const operation = "lf.a2a.v1.A2AService/CreateTaskPushNotificationConfig";
    const { body } = await eve.v2("audit.list", { operation });
    expect(body["data"]).toMatchObject([
      { operation, subject: taskId },
      { operation, subject: taskId },
    ]);
  });
});
