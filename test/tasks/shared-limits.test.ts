import { beforeEach, describe, expect, test } from "vitest";
import { SharedTaskService } from "../../src/gen/proto/task/v2/shared_task_service_pb.ts";
import { rpcName } from "../../src/pipeline/operations.ts";
import { callV2, rpcWires } from "../support/wires.ts";
import { send } from "../wires/raw.ts";
import { type Headers as CallHeaders, notFoundText, outcomeOf, sharedRig } from "./shared-rig.ts";

const names = SharedTaskService.methods.map(rpcName);
const json = { "content-type": "application/json" };

describe("the calls to shared tasks of one address", () => {
  const rig = sharedRig("sqlite", { RATE_LIMITS: "0.05", TRUST_PROXY: "x-forwarded-for" });
  // The next minute: all counts begin again.
  beforeEach(() => rig.clock.leap(60_000));
  const full = `[resource_exhausted] rate limit of 3 calls a minute for ${names.join(" and ")} exceeded`;
  let addresses = 0;
  const newAddress = (): CallHeaders => ({ "x-forwarded-for": `192.0.2.${++addresses}` });
  const unknown = { taskId: "A".repeat(22) };

  test("are 60 times the factor in a minute, over the three operations together", async () => {
    const mine = newAddress();
    const id = await rig.share("public");
    await rig.advance(id, [], { status: "stopped" });
    const visitor = rig.visitor(mine);
    const outcomes = [
      await outcomeOf(visitor.getSharedTask({ taskId: id })),
      await outcomeOf(visitor.listSharedEvents(unknown)),
      await outcomeOf(visitor.watchSharedTask({ taskId: id, untilSettled: true })),
      await outcomeOf(visitor.getSharedTask({ taskId: id })),
      await outcomeOf(visitor.listSharedEvents(unknown)),
      await outcomeOf(visitor.watchSharedTask(unknown)),
    ];
    expect(outcomes).toEqual(["ok", notFoundText, "ok", full, full, full]);
    expect(await outcomeOf(rig.visitor(newAddress()).getSharedTask({ taskId: id }))).toBe("ok");
    await rig.clock.leap(60_000);
    expect(await outcomeOf(visitor.getSharedTask({ taskId: id }))).toBe("ok");
  });

  test.each(
    rpcWires,
  )("are counted over %s, before the fields are checked, and the answer has the limit", async (wire) => {
    const mine = newAddress();
    const headers: Headers[] = [];
    const read = (taskId: string) =>
      rig.visitor(mine, wire).getSharedTask({ taskId }, { onHeader: (found) => headers.push(found) });
    const id = await rig.share("public");
    for (let n = 0; n < 3; n += 1) await read(id);
    expect(headers.map((found) => [found.get("ratelimit-limit"), found.get("ratelimit-remaining")])).toEqual([
      ["3", "2"],
      ["3", "1"],
      ["3", "0"],
    ]);
    expect(await outcomeOf(read(""))).toBe(full);
  });

  test("with a session count by address, and not for the account", async () => {
    const session = (await rig.ann.session()).headers;
    const id = await rig.share("team");
    const [one, other] = [
      rig.visitor({ ...session, ...newAddress() }),
      rig.visitor({ ...session, ...newAddress() }),
    ];
    const get = (visitor: typeof one) => outcomeOf(visitor.getSharedTask({ taskId: id }));
    expect([await get(one), await get(one), await get(one), await get(one), await get(other)]).toEqual([
      "ok",
      "ok",
      "ok",
      full,
      "ok",
    ]);
  });

  test("are apart from all other calls, with and without a valid credential", async () => {
    const mine = newAddress();
    const id = await rig.share("public");
    const bad = { ...mine, "x-service-api-key": "sk-none" };
    for (let n = 0; n < 4; n += 1) await callV2(rig.service.url, "user.me", {}, { headers: bad });
    const health = () =>
      send(`${rig.service.url}/grpc.health.v1.Health/Check`, { headers: { ...mine, ...json }, body: "{}" });
    for (let n = 0; n < 4; n += 1) await health();
    // Credentials that have no effect are not counted as refused ones.
    const withBad = rig.visitor(bad);
    for (let n = 0; n < 3; n += 1) expect(await outcomeOf(withBad.getSharedTask({ taskId: id }))).toBe("ok");
    expect(await outcomeOf(withBad.getSharedTask({ taskId: id }))).toBe(full);
    const fresh = newAddress();
    for (let n = 0; n < 4; n += 1)
      await outcomeOf(rig.visitor({ ...fresh, ...bad, ...fresh }).getSharedTask({ taskId: id }));
    const refused = await callV2(rig.service.url, "user.me", {}, { headers: { ...bad, ...fresh } });
    expect(refused.status).toBe(401);
  });
});

describe("a request for a shared task", () => {
  const rig = sharedRig();

  test.each(names.slice(0, 2))("of more than 64 KiB is refused: %s", async (rpc) => {
    const body = JSON.stringify({ taskId: "A".repeat(22), more: "x".repeat(65_536) });
    const { status, text } = await send(`${rig.service.url}/${rpc}`, { headers: json, body });
    expect([status, text]).toEqual([429, expect.stringContaining("larger than 65536 bytes")]);
  });

  test.each<[what: string, message: object]>([
    ["no id", {}],
    ["a long id", { taskId: "A".repeat(129) }],
    ["a negative number", { taskId: "A", afterSeq: -1 }],
    ["a page of none", { taskId: "A", limit: 0 }],
    ["a page of too many", { taskId: "A", limit: 201 }],
  ])("with %s is invalid", async (_what, message) => {
    expect(await outcomeOf(rig.visitor().listSharedEvents(message))).toMatch(/^\[invalid_argument\]/);
  });
});
