import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Operation, operationTable } from "../../src/pipeline/operations.ts";
import { v1With } from "../http/v1/caller.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { type CallOver, callerOf, refused, servedBy, wires } from "./call.ts";

const table = operationTable();
const me = table.byName("user.me")?.rpc ?? "";
const [key, worker] = [
  'ApiKey realm="api", header="x-service-api-key"',
  'ApiKey realm="api", header="x-api-key"',
];

/** Operations with each kind of access, and the challenge to a call without a credential. */
const challengesOf: readonly [rpc: string, challenges: string, headers: string][] = [
  [me, `Bearer realm="api", ${key}`, "x-service-api-key, authorization"],
  [
    "webhook.v2.WebhookService/ListWebhooks",
    `Bearer realm="api", ${key}`,
    "x-service-api-key, authorization",
  ],
  [
    "team.v2.TeamUserManagementApiV2Service/ListUsers",
    `Bearer realm="api", ${key}, ${worker}`,
    "x-service-api-key, x-api-key, authorization",
  ],
  ["settings.v1.ApiKeyService/CreateApiKey", 'Cookie realm="api"', "cookie"],
  ["worker.v1.WorkerService/PollRun", `Bearer realm="api", ${worker}`, "x-api-key, authorization"],
];

function operationOf(rpc: string): Operation {
  const operation = table.byRpc(rpc);
  if (!operation) throw new Error(`${rpc} is gone`);
  return operation;
}

describe("a refused credential", () => {
  let service: Service;
  let call: CallOver;
  let ann: Person;
  beforeAll(async () => {
    service = await openService({
      idle: true,
      env: { CORS_ORIGINS: "https://page.example", RATE_LIMITS: "off" },
    });
    call = callerOf(service.url);
    ann = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  describe.each(wires)("over %s", (wire) => {
    const served = new Set(servedBy(wire).map(({ rpc }) => rpc));

    test.each(
      challengesOf.filter(([rpc]) => served.has(rpc)),
    )("learns which kinds %s accepts", async (rpc, challenges, accepted) => {
      const { outcome, headers } = await call(wire, operationOf(rpc));
      expect(outcome).toBe(refused("unauthenticated", wire));
      expect([headers.get("www-authenticate"), headers.get("x-accepted-credentials")]).toEqual([
        challenges,
        accepted,
      ]);
    });

    test("learns that its Bearer text is not valid", async () => {
      const { headers } = await call(wire, operationOf(me), {
        headers: { authorization: "Bearer sk-proj-abc" },
      });
      expect(headers.get("www-authenticate")).toBe(`Bearer realm="api", error="invalid_token", ${key}`);
    });

    test("of another kind gets no challenge, nor does an accepted one", async () => {
      const { headers } = await call(wire, operationOf(me), { headers: ann.headers });
      const siem = await service.person({ kind: "siem" });
      const other = await call(wire, operationOf(me), { headers: siem.headers });
      expect(other.outcome).toBe(refused("permission_denied", wire));
      for (const sent of [headers, other.headers])
        expect([sent.get("www-authenticate"), sent.get("x-accepted-credentials")]).toEqual([null, null]);
    });
  });

  test.each([
    "GET /v1/projects",
    "GET /responses/r",
    "GET /v1/responses/r",
    "GET /files",
  ])("at %s gets the challenge too, and pages of other origins may read it", async (at) => {
    const { status, headers } = await v1With(service, {
      Authorization: "Bearer placeholder",
      origin: "https://page.example",
    })(at);
    expect([status, headers.get("x-accepted-credentials"), headers.get("www-authenticate")]).toEqual([
      401,
      "x-service-api-key, authorization",
      `Bearer realm="api", ${key}`,
    ]);
    expect(headers.get("access-control-expose-headers")?.split(", ")).toEqual(
      expect.arrayContaining(["WWW-Authenticate", "X-Accepted-Credentials"]),
    );
  });

  test("gets the challenge in the plain JSON of dataexport.v1 too", async () => {
    const { status, headers } = await v1With(service, {})(
      "POST /dataexport.v1.EnterpriseDataExportService/ListTasks",
      {},
    );
    expect([status, headers.get("x-accepted-credentials")]).toEqual([
      401,
      "x-service-api-key, x-api-key, authorization",
    ]);
  });
});
