import { createClient } from "@connectrpc/connect";
import { createConnectTransport, createGrpcWebTransport } from "@connectrpc/connect-web";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { listItems, pageOf } from "./browser-fetch.ts";
import { runStory } from "./story.ts";
import { expectStory } from "./transcript.ts";
import { expectSlotReleased, expectTimeLimit } from "./watch-slots.ts";
import { webClient } from "./web-client.ts";

type Fetches = Pick<typeof globalThis, "fetch">;

const origin = "https://app.example.com";

let service: Service;
let ann: Person;

beforeAll(async () => {
  service = await openService({ env: { CORS_ORIGINS: origin } });
  ann = await service.person();
});
afterAll(() => service[Symbol.asyncDispose]());

/** The transports of a browser, and the HTTP method of a read. */
const wires = {
  "gRPC-Web": {
    read: "POST",
    transport: (baseUrl: string, { fetch }: Fetches) => createGrpcWebTransport({ baseUrl, fetch }),
  },
  "Connect with GET": {
    read: "GET",
    transport: (baseUrl: string, { fetch }: Fetches) =>
      createConnectTransport({ baseUrl, fetch, useHttpGet: true }),
  },
};

describe.each(Object.entries(wires))("a page of another origin over %s", (_name, { read, transport }) => {
  test("creates, watches, answers, confirms and stops a task", async () => {
    const page = pageOf(origin);
    expectStory(await runStory((key) => webClient(transport(service.url, page), key), ann.key));
  });

  const connect = (url: string) => ({
    clientFor: (key: string) => webClient(transport(url, globalThis), key),
  });

  test("releases its slot when it leaves a watch", () => expectSlotReleased(connect));
  test("can limit the time of a watch", () => expectTimeLimit(connect));

  test("sends a preflight, and may read the request's id", async () => {
    const page = pageOf(origin);
    const { promise: head, resolve: onHeader } = Promise.withResolvers<Headers>();
    await createClient(UserService, transport(service.url, page)).getCurrentUser(
      {},
      { headers: { "x-service-api-key": ann.key }, onHeader },
    );
    expect((await head).get("x-request-id")).toMatch(/^req_/);
    expect(page.sent.map(({ method }) => method)).toEqual(["OPTIONS", read]);
  });

  test("cannot send its key when the origin is not listed", async () => {
    const page = pageOf("https://evil.example.com");
    const call = createClient(UserService, transport(service.url, page)).getCurrentUser(
      {},
      { headers: { "x-service-api-key": ann.key } },
    );
    await expect(call).rejects.toThrow("Failed to fetch: https://evil.example.com is not allowed");
    expect(page.sent.map(({ method }) => method)).toEqual(["OPTIONS"]);
  });
});

describe("CORS for gRPC-Web and Connect", () => {
  const url = () => `${service.url}/task.v2.TaskService/CreateTask`;

  test.each([
    ...["content-type", "x-service-api-key", "authorization", "idempotency-key"],
    ...["x-grpc-web", "x-user-agent", "grpc-timeout", "connect-protocol-version", "connect-timeout-ms"],
  ])("allows pages to send %s", async (name) => {
    const headers = {
      origin,
      "access-control-request-method": "POST",
      "access-control-request-headers": name,
    };
    const reply = await fetch(url(), { method: "OPTIONS", headers });
    expect(listItems(reply, "access-control-allow-headers")).toContain(name);
  });

  test.each([
    "application/grpc-web+proto",
    "application/proto",
  ])("allows pages to read the outcome of a call: %s", async (type) => {
    const reply = await fetch(url(), { method: "POST", headers: { origin, "content-type": type } });
    expect(listItems(reply, "access-control-expose-headers")).toEqual(
      expect.arrayContaining([
        "grpc-status",
        "grpc-message",
        "grpc-status-details-bin",
        "x-request-id",
        "retry-after",
      ]),
    );
  });
});
