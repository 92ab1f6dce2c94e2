import { expect, test } from "vitest";
import { boundDeadline } from "../../src/http/request-hooks.ts";
import { openService } from "../support/service.ts";
import { send } from "../wires/raw.ts";

const bounded = (headers: Record<string, string>): Record<string, string> => {
  boundDeadline(headers);
  return headers;
};

test.each([
  [{ "connect-timeout-ms": "9999999999" }, { "connect-timeout-ms": "2147483647" }],
  [{ "connect-timeout-ms": "2147483647" }, { "connect-timeout-ms": "2147483647" }],
  [{ "connect-timeout-ms": "5000" }, { "connect-timeout-ms": "5000" }],
  [{ "connect-timeout-ms": "soon" }, { "connect-timeout-ms": "soon" }],
  [{ "grpc-timeout": "99999999H" }, { "grpc-timeout": "596H" }],
  [{ "grpc-timeout": "596H" }, { "grpc-timeout": "596H" }],
  [{ "grpc-timeout": "99999999m" }, { "grpc-timeout": "99999999m" }],
  [{ "grpc-timeout": "1n" }, { "grpc-timeout": "1n" }],
  [{ "grpc-timeout": "5" }, { "grpc-timeout": "5" }],
  [{}, {}],
])("a deadline never exceeds the longest timer: %j", (headers, expected) => {
  expect(bounded({ ...headers } as Record<string, string>)).toEqual(expected);
});

test("a caller with a very long deadline is answered and does not time out at once", async () => {
  await using service = await openService({ idle: true });
  const { key } = await service.person();
  const headers = {
    "content-type": "application/json",
    "x-service-api-key": key,
    "connect-timeout-ms": "9999999999",
  };
  const reply = await send(`${service.url}/user.v2.UserService/GetCurrentUser`, { headers, body: "{}" });
  expect(reply.status).toBe(200);
});

test("a body of an unsupported type is refused in the envelope", async () => {
  await using service = await openService({ idle: true });
  const { key } = await service.person();
  const headers = { "content-type": "application/x-www-form-urlencoded", "x-service-api-key": key };
  const reply = await send(`${service.url}/user.v2.UserService/GetCurrentUser`, { headers, body: "a=b" });
  expect(reply.status).toBe(415);
  expect(reply.json()).toMatchObject({
    ok: false,
    request_id: expect.stringMatching(/^req_/),
    error: { code: "invalid_argument" },
  });
});

test("a message that health cannot read is a client error", async () => {
  await using service = await openService({ idle: true });
  const headers = { "content-type": "application/proto" };
  const reply = await send(`${service.url}/grpc.health.v1.Health/Check`, { headers, body: "{}" });
  expect(reply.status).toBe(400);
  expect(reply.json()).toMatchObject({ code: "invalid_argument" });
});
