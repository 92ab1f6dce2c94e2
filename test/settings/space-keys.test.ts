import { expect, test } from "vitest";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { describeOnOne, nodesOf, runOn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { callV2 } from "../support/wires.ts";
import { keysOf, outcomeOf, settingsRig } from "./settings-rig.ts";

const service = "settings.v1.ApiKeyService";

describeOnOne("keys of a space", (database) => {
  const clock = stillClock();
  const rig = settingsRig(database, { clock, nodes: nodesOf(database) });
  const statusOf = async (key: string) =>
    (await callV2(rig.service.url, "user.me", {}, { headers: { "x-service-api-key": key } })).status;
  const browser = async (who: Person) => (await who.session()).client(ApiKeyService);

  test("show their last four characters; a key from before has none", async () => {
    const ann = await rig.person();
    const { apiKey, secret } = await (await browser(ann)).createApiKey({ name: "ci" });
    expect(apiKey?.lastFour).toBe(secret.slice(-4));
    await runOn(rig.db.url, `UPDATE api_key SET last_four = NULL WHERE id = '${ann.keyId}'`);
    const { data } = await keysOf(ann).listApiKeys({});
    expect(data.map(({ id, lastFour }) => [id, lastFour])).toEqual(
      expect.arrayContaining([
        [apiKey?.id, secret.slice(-4)],
        [ann.keyId, undefined],
      ]),
    );
  });

  test("are renamed by their holder, and by no other account", async () => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann });
    expect((await keysOf(bo).renameApiKey({ id: bo.keyId, name: "laptop" })).apiKey?.name).toBe("laptop");
    expect(await rig.auditRow(`${service}/RenameApiKey`, bo.keyId)).toMatchObject({
      before: '{"name":"test"}',
      after: '{"name":"laptop"}',
    });
    expect(await outcomeOf(keysOf(ann).renameApiKey({ id: bo.keyId, name: "mine" }))).toBe(
      "NotFound: API key not found",
    );
    expect(await outcomeOf(keysOf(bo).renameApiKey({ id: bo.keyId, name: " x" }))).toContain(
      "InvalidArgument: name: must have 1 to 100",
    );
    expect((await keysOf(bo).listApiKeys({})).data.map(({ name }) => name)).toEqual(["laptop"]);
  });

  test("are listed for the owner, page by page, with their holders, and for one holder (spec/api.md 8.43)", async () => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann });
    const elsewhere = await rig.person({ as: ann });
    const expired = await rig.person({ as: ann, with: ann, expiresAt: clock.now() });
    const found: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await keysOf(ann).listSpaceApiKeys({
        limit: 1,
        ...(cursor === undefined ? {} : { cursor }),
      });
      found.push(
        ...page.data.map(({ apiKey, userId, email }) => `${apiKey?.id} ${userId} ${email.includes("@")}`),
      );
      cursor = page.nextCursor;
    } while (cursor !== undefined);
    expect(found.toSorted()).toEqual(
      [`${ann.keyId} ${ann.accountId} true`, `${bo.keyId} ${bo.accountId} true`].toSorted(),
    );
    const ofBo = await (await browser(ann)).listSpaceApiKeys({ userId: bo.accountId });
    expect(ofBo.data.map(({ apiKey }) => apiKey?.id)).toEqual([bo.keyId]);
    for (const { keyId } of [elsewhere, expired]) expect(found.join()).not.toContain(keyId);
    const { nextCursor = "" } = await keysOf(ann).listSpaceApiKeys({ limit: 1 });
    expect(
      await outcomeOf(keysOf(ann).listSpaceApiKeys({ cursor: nextCursor, userId: bo.accountId })),
    ).toContain("InvalidArgument: cursor");
  });

  test("are revoked by the owner, with effect from the next call and a row in the audit log", async () => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann });
    const other = await rig.person();
    for (const id of [other.keyId, "none"])
      expect(await outcomeOf(keysOf(ann).revokeSpaceApiKey({ id }))).toBe("NotFound: API key not found");
    await (await browser(ann)).revokeSpaceApiKey({ id: bo.keyId });
    expect([await statusOf(bo.key), await statusOf(other.key)]).toEqual([401, 200]);
    const row = await rig.auditRow(`${service}/RevokeSpaceApiKey`, bo.keyId);
    expect([row["account_id"], JSON.parse(String(row["before"]))]).toEqual([
      ann.accountId,
      { name: "test", kind: "general", holder: bo.accountId },
    ]);
    expect(await outcomeOf(keysOf(ann).revokeSpaceApiKey({ id: bo.keyId }))).toBe(
      "NotFound: API key not found",
    );
  });

  test("are not shown to and not revoked by anyone but the owner (spec/decisions.md 63)", async () => {
    const ann = await rig.person();
    for (const role of ["super_admin", "admin", "member", "guest"] as const) {
      const other = await rig.person({ with: ann, role });
      expect(await outcomeOf(keysOf(other).listSpaceApiKeys({}))).toMatch(/^PermissionDenied: /);
      expect(await outcomeOf(keysOf(other).revokeSpaceApiKey({ id: ann.keyId }))).toMatch(
        /^PermissionDenied: /,
      );
    }
    expect(await statusOf(ann.key)).toBe(200);
    const alone = await rig.person({ personal: true });
    expect((await keysOf(alone).listSpaceApiKeys({})).data.map(({ apiKey }) => apiKey?.id)).toEqual([
      alone.keyId,
    ]);
  });

  test("are revoked once when their holder and the owner revoke them at the same time", async () => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann });
    const session = await browser(bo);
    const outcomes = await Promise.all([
      outcomeOf(keysOf(ann).revokeSpaceApiKey({ id: bo.keyId })),
      outcomeOf(session.revokeApiKey({ id: bo.keyId })),
    ]);
    expect(outcomes.toSorted()).toEqual(["NotFound: API key not found", "let in"].toSorted());
  });
});
