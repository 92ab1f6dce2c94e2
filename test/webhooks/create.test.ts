import { beforeAll, expect, test } from "vitest";
import { openWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import { WebhookEventType, WebhookStatus } from "../../src/gen/proto/webhook/v2/webhook_pb.ts";
import { WebhookService } from "../../src/gen/proto/webhook/v2/webhook_service_pb.ts";
import { cipher } from "../support/cipher.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { createTestWebhook, type Hook, webhookRig, webhooksOf } from "./rig.ts";

describeOnOne("webhook.create", (database) => {
  const rig = webhookRig(database);
  let ann: Person;
  let hook: Hook;
  beforeAll(async () => {
    ann = await rig.person();
    hook = await rig.hook();
  });
  const list = async (person: Person) => (await webhooksOf(person).listWebhooks({})).data;

  test("returns the active webhook with its secret, only this once", async () => {
    const url = `${hook.url}/in?tenant=7&secret=deadbeef`;
    const { status, body } = await ann.v2("webhook.create", { url });
    expect(status).toBe(200);
    expect(body).toEqual({
      ok: true,
      request_id: expect.any(String),
      webhook: {
        id: expect.stringMatching(/^[2-9A-HJ-NP-Za-km-z]{22}$/),
        url,
        status: "active",
        created_at: expect.any(Number),
        event_types: ["task_created", "task_stopped"],
        double_hash: false,
      },
      signing_secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    const { body: listBody } = await ann.v2("webhook.list");
    expect(listBody["data"]).toContainEqual(body["webhook"]);
    expect(JSON.stringify(listBody)).not.toContain("whsec_");
  });

  test("stores the secret encrypted, and audits neither it nor more of the URL than its host", async () => {
    const { id, secret } = await createTestWebhook(ann, `${hook.url}/kept?secret=deadbeef`);
    const [row] = await rowsIn(rig.db.url, `SELECT secret FROM webhook WHERE id = '${id}'`);
    const sealed = Buffer.from(row?.["secret"] as Uint8Array);
    expect(sealed.includes(Buffer.from(secret.slice("whsec_".length), "base64"))).toBe(false);
    expect(`whsec_${Buffer.from(openWebhookSecret(cipher, id, sealed)).toString("base64")}`).toBe(secret);
    const audit = await rig.auditRow("webhook.v2.WebhookService/CreateWebhook", id);
    expect(JSON.parse(String(audit["after"]))).toMatchObject({
      host: new URL(hook.url).host,
      status: "active",
    });
    expect(JSON.stringify(audit)).not.toMatch(/deadbeef|whsec_|kept/);
  });

  test("sends one signed test request during the call, and stores nothing before its answer", async () => {
    const ownHook = await rig.hook();
    const carl = await rig.person();
    const { promise, resolve } = Promise.withResolvers<number>();
    ownHook.answers = promise;
    const call = carl.v2("webhook.create", { url: `${ownHook.url}/a?b=c` });
    await ownHook.waitForRequests(1);
    expect(await list(carl)).toEqual([]);
    resolve(200);
    const { body } = await call;
    const [request] = ownHook.received;
    expect(ownHook.received).toHaveLength(1);
    expect(request?.path).toBe("/a?b=c");
    expect(Object.keys(request?.body)).toEqual(["event_id", "event_type"]);
    expect(request?.body).toEqual({
      event_id: expect.stringMatching(new RegExp(`^webhook_test_${body["webhook"].id}_[0-9]{10}$`)),
      event_type: "webhook_test",
    });
    expect(request?.headers).toMatchObject({
      "content-type": "application/json",
      "x-webhook-timestamp": expect.stringMatching(/^[0-9]{10}$/),
      "x-webhook-signature": expect.stringMatching(/^[A-Za-z0-9+/]{342}==$/),
      "webhook-id": request?.body.event_id,
      "webhook-signature": expect.stringMatching(/^v1,\S+ v1a,\S+$/),
    });
  });

  test.each([
    [
      "as it is, letter by letter",
      "/A%2fb/../c;d?x=%20&y=[]".replace("[]", "%5B%5D"),
      "/A%2fb/../c;d?x=%20&y=%5B%5D",
    ],
    ["with a path when it has none", "", "/"],
    ["with a path before its query", "?token=t", "/?token=t"],
    ["with the slash that it has", "/", "/"],
  ])("keeps the URL %s", async (_how, given, kept) => {
    const ownHook = await rig.hook();
    const { webhook } = await webhooksOf(ann).createWebhook({ url: ownHook.url + given });
    expect(webhook?.url).toBe(ownHook.url + kept);
  });

  test("subscribes to the named types of event", async () => {
    const eventTypes = [WebhookEventType.TASK_FAILED, WebhookEventType.TASK_CANCELLED];
    const { webhook } = await webhooksOf(ann).createWebhook({ url: `${hook.url}/types`, eventTypes });
    expect(webhook).toMatchObject({ eventTypes, status: WebhookStatus.ACTIVE });
  });

  test.each([
    [
      "http elsewhere",
      "http://hooks.example.com/",
      "url: is not a valid webhook URL: must begin with https://",
    ],
    ["another scheme", "ftp://127.0.0.1/", "url: is not a valid webhook URL: must begin with https://"],
    [
      "a user",
      "https://a:b@hooks.example.com/",
      "url: is not a valid webhook URL: must have no user before the host",
    ],
    ["a fragment", "https://hooks.example.com/#f", "url: is not a valid webhook URL: must have no fragment"],
    ["no host", "https:///in", "url: is not a valid webhook URL: must have // and a host"],
    ["a relative one", "/in", "url: is not a valid webhook URL: must be absolute, with a scheme"],
    [
      "an address in disguise",
      "https://0x7f000001/",
      "url: is not a valid webhook URL: must have a host that browsers do not rewrite",
    ],
    [
      "letters beyond ASCII",
      "https://hö.example/",
      "url: is not a valid webhook URL: must have no white space, control characters or characters outside ASCII",
    ],
    [
      "a backslash",
      "https://a.example\\@b.example/",
      "url: is not a valid webhook URL: must have no backslash",
    ],
    ["2,049 characters", `https://a.example/${"x".repeat(2031)}`, "url: must"],
    ["nothing", "", "url: is required"],
    ["a private address", "https://10.0.0.1/", "url: the address is not public"],
    ["a mapped one", "https://[::ffff:10.0.0.1]/", "url: the address is not public"],
    ["port 22 of a public address", "https://93.184.216.34:22/", "url: the address is not public"],
  ])("refuses %s, and stores nothing", async (_what, url, why) => {
    const carl = await rig.person();
    const { status, body } = await carl.v2("webhook.create", { url });
    expect([status, body["error"]?.code]).toEqual([400, "invalid_argument"]);
    expect(body["error"]?.message.slice(0, why.length)).toBe(why);
    expect(await list(carl)).toEqual([]);
  });

  test.each([301, 500])("refuses a receiver that answers %i, and stores nothing", async (answer) => {
    const ownHook = await rig.hook();
    const carl = await rig.person();
    ownHook.answers = answer;
    const url = `${ownHook.url}/x`;
    const { status, body } = await carl.v2("webhook.create", { url });
    expect([status, body["error"]?.code]).toEqual([400, "invalid_argument"]);
    expect(body["error"]?.message).toBe(
      `url: the receiver answered the test request with ${answer}, not with 2xx`,
    );
    expect(await list(carl)).toEqual([]);
    ownHook.answers = 202;
    expect((await carl.v2("webhook.create", { url })).status).toBe(200);
  });

  test("refuses a URL without a listening receiver", async () => {
    const { status, body } = await ann.v2("webhook.create", { url: "http://127.0.0.1:1/" });
    expect([status, body["error"]?.message]).toEqual([
      400,
      "url: the receiver did not answer the test request: connection",
    ]);
  });

  test("refuses a URL that the account has already, before any request, even if other accounts have it", async () => {
    const ownHook = await rig.hook();
    await createTestWebhook(ann, ownHook.url);
    const { status, body } = await ann.v2("webhook.create", { url: `${ownHook.url}/` });
    expect([status, body["error"]?.code]).toEqual([409, "already_exists"]);
    expect(ownHook.received).toHaveLength(1);
    const colleague = await rig.person({ with: ann });
    const elsewhere = await rig.person({ as: ann });
    for (const other of [colleague, elsewhere])
      expect((await other.v2("webhook.create", { url: ownHook.url })).status).toBe(200);
  });

  test("admits one of ten simultaneous calls with the same URL", async () => {
    const ownHook = await rig.hook();
    const carl = await rig.person();
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => carl.v2("webhook.create", { url: ownHook.url })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)]);
    expect(await list(carl)).toHaveLength(1);
  });

  test("admits exactly as many of ten simultaneous calls as the limit allows, 20 in total", async () => {
    const ownHook = await rig.hook();
    const carl = await rig.person();
    const url = (n: number) => `${ownHook.url}/${n}`;
    for (let n = 0; n < 17; n++) await createTestWebhook(carl, url(n));
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => carl.v2("webhook.create", { url: url(100 + n) })),
    );
    expect(replies.map(({ status }) => status).toSorted()).toEqual([
      ...Array(3).fill(200),
      ...Array(7).fill(429),
    ]);
    const refused = replies.find(({ status }) => status === 429);
    expect(refused?.body["error"]).toMatchObject({
      code: "resource_exhausted",
      message: "an account has at most 20 webhooks",
    });
    const data = await list(carl);
    expect(data).toHaveLength(20);
    const requests = ownHook.received.length;
    expect((await carl.v2("webhook.create", { url: url(200) })).status).toBe(429);
    expect(ownHook.received).toHaveLength(requests);
    await webhooksOf(carl).deleteWebhook({ webhookId: data[0]?.id ?? "" });
    expect((await carl.v2("webhook.create", { url: url(200) })).status).toBe(200);
  });

  test("repeated with its idempotency key returns the same webhook, and neither tests the receiver again nor returns the secret", async () => {
    const ownHook = await rig.hook();
    const carl = await rig.person();
    const call = { headers: { "idempotency-key": "once" } };
    const { body: first } = await carl.v2("webhook.create", { url: ownHook.url }, call);
    const { status, body } = await carl.v2("webhook.create", { url: ownHook.url }, call);
    expect([status, body["error"]]).toMatchObject([
      409,
      { code: "already_exists", message: `Idempotency-Key: already used, it made ${first["webhook"].id}` },
    ]);
    expect(ownHook.received).toHaveLength(1);
  });

  test("of another account is not listed", async () => {
    const { id } = await createTestWebhook(ann, `${hook.url}/mine`);
    for (const other of [
      await rig.person({ with: ann }),
      await rig.person({ as: ann }),
      await rig.person(),
    ]) {
      expect((await list(other)).map((webhook) => webhook.id)).not.toContain(id);
    }
  });

  test("is listed by a session of its account, and by no other person's", async () => {
    const { id } = await createTestWebhook(ann, `${hook.url}/by-session`);
    const idsOf = async (person: Person) => {
      const { data } = await (await person.session()).client(WebhookService).listWebhooks({});
      return data.map((webhook) => webhook.id);
    };
    expect(await idsOf(ann)).toContain(id);
    expect(await idsOf(await rig.person({ with: ann }))).not.toContain(id);
  });
});
