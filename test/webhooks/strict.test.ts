import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { Webhook as StandardWebhook } from "standardwebhooks";
import { Webhook as SvixWebhook } from "svix";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openWebhookSecret } from "../../src/core/webhooks/new-webhook.ts";
import { openReceiver, type Receiver } from "../egress/receiver.ts";
import { v1Of } from "../http/v1/caller.ts";
import { appsOf, garden, outcomeOf } from "../settings/settings-rig.ts";
import { cipher } from "../support/cipher.ts";
import { rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { webhookRig, webhooksOf } from "./rig.ts";

/** A receiver whose answer depends on the request, and that stores the bodies. */
interface Strict extends Receiver {
  // biome-ignore lint/suspicious/noExplicitAny: a body is read as a receiver sees it, member by member
  readonly bodies: readonly any[];
}

type Answer = (raw: string, headers: Record<string, string>) => number;

const headersOf = ({ headers }: IncomingMessage) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));

/** As docs/guides/webhooks.md requires: verify, and refuse mismatches with 400. */
const checkSignature =
  (library: typeof StandardWebhook | typeof SvixWebhook, secret: string): Answer =>
  (raw, headers) => {
    try {
      new library(secret).verify(raw, headers);
      return 204;
    } catch {
      return 400;
    }
  };

/** Refuses a type of event that the public API does not document. */
const checkType =
  (status: number, then: Answer = () => 200): Answer =>
  (raw, headers) => {
    const { event_type, task_detail } = JSON.parse(raw);
    const isKnown =
      event_type === "task_created" && task_detail.task_title !== "" && URL.canParse(task_detail.task_url);
    return isKnown ? then(raw, headers) : status;
  };

const newSecret = (bytes = 32) => `whsec_${randomBytes(bytes).toString("base64")}`;

describe("a strict receiver", () => {
  const rig = webhookRig("sqlite");
  const opened: Strict[] = [];
  let ann: Person;
  beforeAll(async () => {
    ann = await rig.person();
  });
  afterAll(async () => {
    for (const one of opened) await one[Symbol.asyncDispose]();
  });

  async function strict(answer: Answer): Promise<Strict> {
    const bodies: unknown[] = [];
    const server = await openReceiver(async (request, response) => {
      const raw = await text(request);
      bodies.push(JSON.parse(raw));
      response.writeHead(answer(raw, headersOf(request))).end();
    });
    const one = Object.assign(server, { bodies });
    opened.push(one);
    return one;
  }

  const create = (url: string, more: object = {}) => ann.v2("webhook.create", { url, ...more });
  const isListed = async (url: string) =>
    (await webhooksOf(ann).listWebhooks({})).data.some((webhook) => webhook.url === url);

  test.each([
    400, 401, 404, 410, 422,
  ])("that answers %i to webhook_test is tested again in the form of task_created", async (status) => {
    const hook = await strict(checkType(status));
    const { status: made, body } = await create(`${hook.url}/in`);
    expect(made).toBe(200);
    const { id } = body["webhook"];
    expect(hook.bodies.map(({ event_type }) => event_type)).toEqual(["webhook_test", "task_created"]);
    expect(hook.bodies[1]).toEqual({
      event_id: expect.stringMatching(/^webhook_test_/),
      event_type: "task_created",
      task_detail: {
        task_id: id,
        task_title: "Webhook test",
        task_url: expect.stringMatching(`/app/${id}$`),
        task_event_id: expect.any(String),
      },
    });
    expect(hook.bodies[1].event_id).not.toBe(hook.bodies[0].event_id);
  });

  test.each([
    ["standardwebhooks", StandardWebhook],
    ["svix", SvixWebhook],
  ])("that verifies with the package %s is registered with the secret that it has already", async (_name, library) => {
    const secret = newSecret();
    const hook = await strict(checkSignature(library, secret));
    expect(await create(hook.url)).toMatchObject({
      status: 400,
      body: { error: { code: "invalid_argument" } },
    });
    expect(hook.bodies).toHaveLength(2);
    expect(await create(hook.url, { signing_secret: secret })).toMatchObject({
      status: 200,
      body: { signing_secret: secret },
    });
    expect(hook.bodies).toHaveLength(3);
    const both = await strict(checkType(400, checkSignature(library, secret)));
    const { webhook, signingSecret } = await webhooksOf(ann).createWebhook({
      url: both.url,
      signingSecret: secret,
    });
    expect([signingSecret, webhook?.url]).toEqual([secret, `${both.url}/`]);
  });

  test("that refuses both requests is not registered, and the error has both answers", async () => {
    const hook = await strict(checkType(400, () => 403));
    const { status, body } = await create(`${hook.url}/no`);
    expect([status, body["error"]]).toMatchObject([
      400,
      {
        code: "invalid_argument",
        message:
          "url: the receiver answered webhook_test with 400, not with 2xx; the receiver answered the same test as task_created with 403, not with 2xx",
      },
    ]);
    expect(hook.bodies).toHaveLength(2);
    expect(await isListed(`${hook.url}/no`)).toBe(false);
  });

  test.each([302, 500, 503])("that answers %i is tested once", async (status) => {
    const hook = await strict(() => status);
    expect((await create(hook.url)).body["error"]?.message).toBe(
      `url: the receiver answered the test request with ${status}, not with 2xx`,
    );
    expect(hook.bodies).toHaveLength(1);
  });

  test("that refuses unknown types is registered on v1, for an app, and is resumed", async () => {
    const hook = await strict(checkType(422));
    expect(
      (await v1Of(rig.service, ann)("POST /v1/webhooks", { webhook: { url: `${hook.url}/v1` } })).status,
    ).toBe(200);
    expect(await outcomeOf(appsOf(ann).createOAuth2App({ ...garden, webhookUrl: `${hook.url}/app` }))).toBe(
      "let in",
    );
    const { webhook } = await webhooksOf(ann).createWebhook({ url: `${hook.url}/resumed` });
    for (const status of ["inactive", "active"]) {
      expect(
        (await ann.v2("webhook.update", { webhook_id: webhook?.id, status })).body["webhook"].status,
      ).toBe(status);
    }
    expect(hook.bodies.map(({ event_type }) => event_type)).toEqual(
      Array(4).fill(["webhook_test", "task_created"]).flat(),
    );
  });

  test.each([
    24, 32, 64,
  ])("can have a secret of %i bytes, which is returned once and stored encrypted", async (bytes) => {
    const hook = await strict(() => 204);
    const secret = newSecret(bytes);
    const call = { headers: { "idempotency-key": `secret-${bytes}` } };
    const { body } = await ann.v2("webhook.create", { url: hook.url, signing_secret: secret }, call);
    expect(body["signing_secret"]).toBe(secret);
    const { id } = body["webhook"];
    const [row] = await rowsIn(rig.db.url, `SELECT secret FROM webhook WHERE id = '${id}'`);
    const sealed = Buffer.from(row?.["secret"] as Uint8Array);
    expect(Buffer.from(openWebhookSecret(cipher, id, sealed)).toString("base64")).toBe(
      secret.slice("whsec_".length),
    );
    const repeat = await ann.v2("webhook.create", { url: hook.url, signing_secret: secret }, call);
    expect(repeat.body["error"]).toMatchObject({
      code: "already_exists",
      message: `Idempotency-Key: already used, it made ${id}`,
    });
    const audit = await rig.auditRow("webhook.v2.WebhookService/CreateWebhook", id);
    expect(JSON.stringify([audit, await ann.v2("webhook.list"), rig.service.logged])).not.toContain(
      secret.slice(8, 30),
    );
  });

  test.each([
    ["empty", ""],
    ["without its prefix", randomBytes(32).toString("base64")],
    ["with another prefix", `whsk_${randomBytes(32).toString("base64")}`],
    ["of 23 bytes", newSecret(23)],
    ["of 65 bytes", newSecret(65)],
    ["without padding", newSecret(32).replace("=", "")],
    ["in base64url", `whsec_${Buffer.alloc(32, 255).toString("base64url")}=`],
    ["with white space", `${newSecret(33)} `],
    ["in hex", `whsec_${randomBytes(32).toString("hex")}_`],
  ])("is asked nothing when the secret is %s, and the refusal says the rule and not the secret", async (_what, secret) => {
    const hook = await strict(() => 204);
    expect((await create(hook.url, { signing_secret: secret })).body["error"]).toMatchObject({
      code: "invalid_argument",
      message:
        'signing_secret: must be "whsec_" and the standard base64, with padding, of 24 to 64 random bytes',
    });
    expect(hook.bodies).toEqual([]);
  });
});

describe("the default event types of a webhook", () => {
  const rig = webhookRig("sqlite");

  test("are task_created and task_stopped on v2, and the three documented types on v1 and for an app", async () => {
    const ann = await rig.person();
    const hook = await rig.hook();
    const typesOf = async (id: string) =>
      (await ann.v2("webhook.update", { webhook_id: id })).body["webhook"].event_types;
    expect((await ann.v2("webhook.create", { url: `${hook.url}/v2` })).body["webhook"].event_types).toEqual([
      "task_created",
      "task_stopped",
    ]);
    const { body } = await v1Of(rig.service, ann)("POST /v1/webhooks", { url: `${hook.url}/v1` });
    const { app } = await appsOf(ann).createOAuth2App({ ...garden, webhookUrl: hook.url });
    for (const id of [body.webhook_id, app?.webhookId]) {
      expect(await typesOf(id)).toEqual(["task_created", "task_progress", "task_stopped"]);
    }
  });
});
