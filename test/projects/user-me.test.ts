import { afterAll, beforeAll, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";
import { rpcWires } from "../support/wires.ts";

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describeOnOne("user.me", (database) => {
  let service: Service;
  beforeAll(async () => {
    service = await openService({ database, idle: true });
  });
  afterAll(() => service[Symbol.asyncDispose]());

  test("returns the account of a key, by POST and by GET", async () => {
    const ann = await service.person();
    const { status, body } = await ann.v2("user.me");
    expect([status, body]).toEqual([200, { ok: true, request_id: expect.any(String), message: "ok", user_id: ann.accountId }]);
    expect(body["user_id"]).toMatch(uuid);
    const got = await ann.v2("user.me", {}, { method: "GET" });
    expect(got.body).toEqual({ ...body, request_id: expect.any(String) });
  });

  test.each(rpcWires)("returns the same over %s", async (wire) => {
    const ann = await service.person();
    expect(await ann.client(UserService, wire).getCurrentUser({})).toMatchObject({ message: "ok", userId: ann.accountId });
  });

  test("returns one account for all keys and spaces of a person, and accepts every role", async () => {
    const ann = await service.person();
    const hers = [
      await service.person({ as: ann, with: ann }),
      await service.person({ as: ann }),
      await service.person({ as: ann, personal: true }),
    ];
    for (const other of hers) expect((await other.v2("user.me")).body["user_id"]).toBe(ann.accountId);
    for (const role of roles) {
      const person = await service.person({ role });
      expect((await person.v2("user.me")).body["user_id"]).toBe(person.accountId);
    }
  });
});
