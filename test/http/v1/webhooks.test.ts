import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openReceiver, type Receiver } from "../../egress/receiver.ts";
import { openService, type Person, type Service } from "../../support/service.ts";
import { stillClock } from "../../support/still-clock.ts";
import { type CallV1, refusal, v1Of, v1With } from "./caller.ts";

describe("webhooks of v1", () => {
  let service: Service;
  let hooks: Receiver;
  let ann: Person;
  let call: CallV1;
  beforeAll(async () => {
    hooks = await openReceiver(
      (request, response) => void response.writeHead(request.url === "/broken" ? 500 : 200).end(),
    );
    service = await openService({ idle: true, env: { WEBHOOK_ALLOW: "loopback" } });
    ann = await service.person();
    call = v1Of(service, ann);
  });
  afterAll(async () => {
    await service[Symbol.asyncDispose]();
    await hooks[Symbol.asyncDispose]();
  });

  test.each([
    ["in `webhook`", (url: string) => ({ webhook: { url, events: ["task_stopped"] }, name: "mine" })],
    ["at the top, as several clients have it", (url: string) => ({ url })],
  ])("are created, with the address %s, after a test request; an address is registered once (spec/clients.md 10)", async (where, body) => {
    const url = `${hooks.url}/${where.length}`;
    const { status, body: made } = await call("POST /v1/webhooks", body(url));
    expect({ status, made }).toMatchObject({ status: 200, made: { webhook_id: expect.any(String) } });
    expect(hooks.requests).toContain(`POST /${where.length}`);
    const { data } = (await ann.v2("webhook.list")).body;
    expect(data).toContainEqual(expect.objectContaining({ id: made.webhook_id, url, status: "active" }));
    expect(await call("POST /v1/webhooks", body(url))).toMatchObject({
      status: 409,
      body: refusal(6, /^webhook\.url: a webhook with this address already exists$/),
    });
  });

  test("are removed with 204 and no body; an unknown one is 404", async () => {
    const { body } = await call("POST /v1/webhooks", { webhook: { url: `${hooks.url}/gone` } });
    const at = `DELETE /v1/webhooks/${body.webhook_id}`;
    expect(await call(at)).toMatchObject({ status: 204, body: null });
    expect(await call(at)).toMatchObject({ status: 404, body: refusal(5, /not found/) });
  });

  test("are not created when the test request fails", async () => {
    expect(await call("POST /v1/webhooks", { webhook: { url: `${hooks.url}/broken` } })).toMatchObject({
      status: 400,
      body: refusal(3, /^webhook\.url: /),
    });
  });

  test("have a public key, also for callers without a key (spec/clients.md 29); a bad key is refused", async () => {
    const { status, body } = await v1With(service, { Authorization: "Bearer placeholder" })(
      "GET /v1/webhook/public_key",
    );
    expect({ status, body }).toEqual({
      status: 200,
      body: {
        public_key: expect.stringMatching(/^-----BEGIN PUBLIC KEY-----\n/),
        algorithm: "RSA-SHA256",
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      },
    });
    expect((await call("GET /v1/webhook/public_key")).body).toEqual(body);
    expect((await ann.v2("webhook.publicKey")).body["public_key"]).toBe(body.public_key);
    expect((await v1With(service, { API_KEY: "sk-nobody" })("GET /v1/webhook/public_key")).status).toBe(401);
  });

  test("their public key is limited by address for callers without a key", async () => {
    await using limited = await openService({ idle: true, env: { RATE_LIMITS: "1" }, clock: stillClock() });
    const withoutKey = v1With(limited, {});
    const statuses: number[] = [];
    for (let i = 0; i < 61; i++) statuses.push((await withoutKey("GET /v1/webhook/public_key")).status);
    expect(statuses).toEqual([...Array(60).fill(200), 429]);
  });

  test.each([
    [{}, /^webhook\.url: is required$/],
    [{ webhook: {} }, /^webhook\.url: is required$/],
    [{ webhook: null }, /^webhook\.url: is required$/],
    [{ webhook: { url: "a".repeat(2049) } }, /^webhook\.url: /],
    [{ webhook: { url: 5 } }, /^webhook\.url: must be a string/],
    [{ webhook: "https://a.example" }, /^webhook: must be an object/],
  ])("POST /v1/webhooks refuses %j", async (body, named) => {
    expect(await call("POST /v1/webhooks", body)).toMatchObject({ status: 400, body: refusal(3, named) });
  });

  test("there is no list of them: GET /v1/webhooks is 405 and names the accepted methods (spec/clients.md 10)", async () => {
    const { status, headers, body } = await call("GET /v1/webhooks");
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
    expect(body).toEqual(refusal(12, /POST/));
  });
});
