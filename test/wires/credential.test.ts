import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { newKeyText } from "../../src/core/keys/api-key.ts";
import { operationTable } from "../../src/pipeline/operations.ts";
import { openService, type Person, type Service } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type CallOver, callerOf, refused, wires } from "./call.ts";

const me = operationTable().byName("user.me");
const clock = stillClock();

describe.each(wires)("a credential over %s", (wire) => {
  let service: Service;
  let call: CallOver;
  let ann: Person;
  let bo: Person;

  beforeAll(async () => {
    service = await openService({ idle: true, clock });
    call = callerOf(service.url);
    ann = await service.person();
    bo = await service.person();
  });
  afterAll(() => service[Symbol.asyncDispose]());

  async function outcome(headers: Record<string, string>): Promise<string> {
    if (!me) throw new Error("user.me is gone");
    const answer = await call(wire, me, { headers });
    return answer.outcome === "ok" ? "ok" : `${answer.outcome}: ${answer.message}`;
  }

  test.each([
    "x-service-api-key",
    "x-manus-api-key",
    "x-api-key",
    "X-API-Key",
  ])("is read from %s", async (header) => {
    expect(await outcome({ [header]: ann.key })).toBe("ok");
  });

  test.each([
    "Bearer",
    "bearer",
    "BEARER ",
  ])("is read behind %s, where every SDK sends it", async (scheme) => {
    expect(await outcome({ authorization: `${scheme} ${ann.key}` })).toBe("ok");
  });

  test.each([
    ["in two headers", () => ({ "x-manus-api-key": ann.key, "x-api-key": ann.key })],
    [
      "in three headers",
      () => ({ "x-service-api-key": ann.key, "x-manus-api-key": ann.key, "x-api-key": ann.key }),
    ],
    ["twice in one header", () => ({ "x-service-api-key": `${ann.key}, ${ann.key}` })],
    ["as a key and as a token", () => ({ "x-service-api-key": ann.key, authorization: `Bearer ${ann.key}` })],
    [
      "next to an empty header",
      () => ({ "x-service-api-key": ann.key, "x-manus-api-key": "", authorization: "Bearer" }),
    ],
    ["next to an unknown scheme", () => ({ "x-service-api-key": ann.key, authorization: "Basic YTpi" })],
  ])("that is %s is accepted", async (_where, headers) => {
    expect(await outcome(headers())).toBe("ok");
  });

  test.each([
    ["keys", () => ({ "x-service-api-key": ann.key, "x-api-key": bo.key })],
    ["keys in one header", () => ({ "x-service-api-key": `${ann.key}, ${bo.key}` })],
    ["keys of which one is bad", () => ({ "x-service-api-key": ann.key, "x-manus-api-key": "sk-bad" })],
    ["a key and a token", () => ({ "x-api-key": ann.key, authorization: "Bearer abc" })],
    ["a key and another as a token", () => ({ "x-api-key": ann.key, authorization: `Bearer ${bo.key}` })],
  ])("is never chosen from two: %s", async (_what, headers) => {
    expect(await outcome(headers())).toBe(
      `${refused("invalid_argument", wire)}: a request carries one credential, this one carries two`,
    );
  });

  const missing = "Invalid or missing API key";
  const absent = `${missing} or access token: missing authentication`;
  const send = "send a key in x-service-api-key, or a key or access token in Authorization: Bearer";
  const mistyped = ({ key }: Person) => key.replace(/.$/, (last) => (last === "A" ? "B" : "A"));
  test.each([
    ["an empty header", () => ({ "x-service-api-key": " " }), `${absent}: ${send}`],
    ["a token without a text", () => ({ authorization: "Bearer " }), `${absent}: ${send}`],
    ["a scheme that is not ours", () => ({ authorization: "Basic YTpi" }), `${absent}: ${send}`],
    [
      "a key without Bearer",
      () => ({ authorization: ann.key }),
      `${absent}: write "Bearer " before the key in Authorization`,
    ],
    [
      "a key in a header of another API",
      () => ({ api_key: ann.key }),
      `${absent}: the header api_key is not read here; ${send}`,
    ],
    [
      "a foreign key as a token",
      () => ({ authorization: "Bearer sk-proj-abc" }),
      `${missing} or access token: invalid token`,
    ],
    [
      "a mistyped key as a token",
      () => ({ authorization: `Bearer ${mistyped(ann)}` }),
      `${missing} or access token: invalid token`,
    ],
    [
      "a key longer by one as a token",
      () => ({ authorization: `Bearer ${ann.key}A` }),
      `${missing} or access token: invalid token`,
    ],
    [
      "a token in another spelling",
      () => ({ authorization: "bearer  abc" }),
      `${missing} or access token: invalid token`,
    ],
    ["a mistyped key", () => ({ "x-service-api-key": mistyped(ann) }), missing],
    ["a key without its checksum", () => ({ "x-service-api-key": ann.key.slice(0, -6) }), missing],
    ["a key in capitals", () => ({ "x-service-api-key": ann.key.toUpperCase() }), missing],
  ])("is not %s", async (_what, headers, why) => {
    expect(await outcome(headers())).toBe(`${refused("unauthenticated", wire)}: ${why}`);
  });

  test("is valid until the moment it expires", async () => {
    const { key } = await service.person({ expiresAt: clock.now() + 1 });
    expect(await outcome({ "x-service-api-key": key })).toBe("ok");
    await clock.advance(1);
    expect(await outcome({ "x-service-api-key": key })).toBe(
      `${refused("unauthenticated", wire)}: ${missing}`,
    );
  });

  test("is valid until it is revoked; the next calls are refused at once", async () => {
    const { key, keyId } = await service.person();
    const shown = [{ "x-service-api-key": key }, { authorization: `Bearer ${key}` }];
    for (const headers of shown) expect(await outcome(headers)).toBe("ok");
    await service.store.change((tx) => tx.keys.revoke(keyId, clock.now()));
    for (const headers of shown)
      expect(await outcome(headers)).toBe(`${refused("unauthenticated", wire)}: ${missing}`);
  });

  test("that is mistyped causes no database query", async () => {
    const before = service.statements.length;
    await outcome({ "x-service-api-key": `${newKeyText(systemRandom).slice(0, -1)}!` });
    await outcome({});
    expect(service.statements.length - before).toBe(0);
  });
});
