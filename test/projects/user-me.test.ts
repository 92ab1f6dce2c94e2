import { afterAll, beforeAll, expect, test } from "vitest";
import { roles } from "../../src/core/accounts/account.ts";
import { TeamMemberRole } from "../../src/gen/proto/team/v2/team_user_pb.ts";
import { CredentialKind, UserService } from "../../src/gen/proto/user/v2/user_service_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { openService, type Service } from "../support/service.ts";
import { tokenOf } from "../support/token.ts";
import { callV2, rpcWires } from "../support/wires.ts";

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
    expect([status, body]).toEqual([
      200,
      {
        ...{
          ok: true,
          request_id: expect.any(String),
          message: "ok",
          user_id: ann.accountId,
          credential_kind: "key",
        },
        space: { id: ann.spaceId, name: `Team ${ann.spaceId}` },
        ...{
          email: expect.stringMatching(/^person-.*@example\.com$/),
          locale: "en",
          role: "TEAM_MEMBER_ROLE_OWNER",
        },
      },
    ]);
    expect(body["user_id"]).toMatch(uuid);
    const got = await ann.v2("user.me", {}, { method: "GET" });
    expect(got.body).toEqual({ ...body, request_id: expect.any(String) });
  });

  test.each(rpcWires)("returns the same over %s", async (wire) => {
    const ann = await service.person();
    expect(await ann.client(UserService, wire).getCurrentUser({})).toMatchObject({
      message: "ok",
      userId: ann.accountId,
    });
  });

  test("shows a session the same as a key of its person, and the name that the person has set", async () => {
    const ann = await service.person({ role: "guest" });
    const session = await ann.session();
    const { $typeName: _, ...byKey } = await ann.client(UserService).getCurrentUser({});
    expect(await session.client(UserService).getCurrentUser({})).toMatchObject({
      ...byKey,
      credentialKind: CredentialKind.SESSION,
      role: TeamMemberRole.GUEST,
    });
    const scim = await service.person({ personal: true });
    await service.store.change((tx) =>
      tx.accounts.setProfile(scim.accountId, { name: "Ann Lee", locale: "pt-BR" }),
    );
    const { body } = await scim.v2("user.me");
    expect(body).toMatchObject({ name: "Ann Lee", locale: "pt-BR", space: { id: scim.spaceId } });
    expect(body["space"]).not.toHaveProperty("name");
    expect(body).not.toHaveProperty("role");
  });

  test.each([
    [["create_task"]],
    [["manage_all_tasks", "create_project"]],
  ] as const)("shows a token with the scopes %j nothing of its user but the account id", async (scopes) => {
    const ann = await service.person();
    const { headers } = await tokenOf(service, ann, { scopes });
    const { body } = await callV2(service.url, "user.me", {}, { headers });
    expect(body).toEqual({
      ...{ ok: true, request_id: expect.any(String), message: "ok", user_id: ann.accountId },
      ...{
        credential_kind: "token",
        space: { id: ann.spaceId },
        scopes: expect.arrayContaining([...scopes]),
      },
    });
    expect(body["scopes"]).toHaveLength(scopes.length);
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
