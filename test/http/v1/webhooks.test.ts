import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openService, type Service } from "../../support/service.ts";
import { type CallV1, refusal, v1Of } from "./caller.ts";

/** What is not built answers so, after its fields were looked at; the shapes of what it will answer stand in the rows. */
describe("webhooks of v1", () => {
  let service: Service;
  let call: CallV1;
  beforeAll(async () => {
    service = await openService({ idle: true });
    call = v1Of(service, await service.person());
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test.each([
    ["POST /v1/webhooks", { webhook: { url: "https://a.example/hook" } }],
    ["POST /v1/webhooks", { url: "https://a.example/hook" }],
    ["POST /v1/webhooks", { webhook: { url: "https://a.example/hook", events: ["task_stopped"] }, name: "mine" }],
    ["DELETE /v1/webhooks/w", undefined],
    ["GET /v1/webhook/public_key", undefined],
  ])("%s with %j is not built yet", async (at, body) => {
    expect(await call(at, body)).toMatchObject({ status: 501, body: refusal(12, /is not built yet$/) });
  });

  test.each([
    [{}, /^webhook\.url: /],
    [{ webhook: {} }, /^webhook\.url: /],
    [{ webhook: null }, /^webhook\.url: /],
    [{ webhook: { url: "a".repeat(2049) } }, /^webhook\.url: /],
    [{ webhook: { url: 5 } }, /^webhook\.url: must be a string/],
    [{ webhook: "https://a.example" }, /^webhook: must be an object/],
  ])("POST /v1/webhooks refuses %j", async (body, named) => {
    expect(await call("POST /v1/webhooks", body)).toMatchObject({ status: 400, body: refusal(3, named) });
  });

  test("there is no list of them: GET /v1/webhooks is 405 and says what is taken (clients.md 10)", async () => {
    const { status, headers, body } = await call("GET /v1/webhooks");
    expect([status, headers.get("allow")]).toEqual([405, "POST"]);
    expect(body).toEqual(refusal(12, /POST/));
  });
});
