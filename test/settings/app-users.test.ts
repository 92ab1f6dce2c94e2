import { expect, test } from "vitest";
import { systemIds } from "../../src/core/ids.ts";
import { noUsage } from "../../src/core/usage/price.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { appsOf, outcomeOf, settingsRig } from "./settings-rig.ts";

const gmail = "9444d960-ab7e-450f-9cb9-b9467fb0adda";

describeOnOne("users and grants of an app", (database) => {
  const rig = settingsRig(database);
  const sessionOf = async (person: Person) => (await person.session()).client(OAuth2AppService);
  const connecting = { scopes: ["create_task", "use_connectors"] as const, connectorUids: [gmail] };

  test("show the last use and the credits of the last 30 days with a grant, each app's own", async () => {
    const ann = await rig.person();
    const of = await newApp(rig.service, ann);
    const other = await newApp(rig.service, ann);
    const before = Math.floor(Date.now() / 1000);
    await tokenOf(rig.service, ann, { of });
    const { accountId, spaceId } = ann;
    const { clientId } = of.app;
    const entry = {
      accountId,
      spaceId,
      taskId: "t",
      projectId: null,
      profile: "p",
      ...noUsage,
      kind: "cost" as const,
    };
    const cost = (by: string, credits: number, at = Date.now()) =>
      rig.service.store.change((tx) =>
        tx.usage.insert({ ...entry, id: systemIds.short(), clientId: by, apiKeyId: null, credits, at }),
      );
    await cost(clientId, -12);
    await cost(clientId, -100, Date.now() - 40 * 86_400_000);
    await cost(other.app.clientId, -7);
    const [grant] = (await appsOf(ann).listOAuth2Grants({})).data;
    expect(grant).toMatchObject({ clientId, credits: 12 });
    expect(Number(grant?.lastUsedAt)).toBeGreaterThanOrEqual(before);
  });

  test("are listed to an app's editors on pages with their number, and to no other member", async () => {
    const owner = await rig.person();
    const members = await Promise.all([1, 2, 3].map(() => rig.person({ with: owner })));
    const of = await newApp(rig.service, owner);
    const { clientId } = of.app;
    for (const [n, who] of members.entries()) await tokenOf(rig.service, who, { of, now: Date.now() + n });
    const ids: string[] = [];
    let cursor = "";
    do {
      const page = await appsOf(owner).listOAuth2AppUsers({ clientId, limit: 2, cursor });
      expect(page.total).toBe(3);
      ids.push(...page.data.map(({ userId }) => userId));
      cursor = page.nextCursor ?? "";
    } while (cursor);
    expect(ids).toEqual(members.map(({ accountId }) => accountId).toReversed());
    const [user] = (await appsOf(owner).listOAuth2AppUsers({ clientId })).data;
    expect(user?.userName).toContain("@example.com");
    const [bo] = members;
    if (!bo) throw new Error("there are members");
    expect(await outcomeOf(appsOf(bo).listOAuth2AppUsers({ clientId }))).toMatch(/^PermissionDenied/);
    expect(await outcomeOf(appsOf(await rig.person()).listOAuth2AppUsers({ clientId }))).toBe(
      "NotFound: app not found",
    );
    await appsOf(bo).revokeOAuth2Grant({ clientId });
    expect((await appsOf(owner).listOAuth2AppUsers({ clientId })).total).toBe(2);
  });

  test("have their connectors replaced by a session, with effect for tokens at once and an audit row", async () => {
    const owner = await rig.person();
    const guest = await rig.person({ with: owner, role: "guest" });
    const of = await newApp(rig.service, owner);
    const { clientId } = await tokenOf(rig.service, guest, { of, ...connecting });
    const apps = await sessionOf(guest);
    expect(await apps.updateOAuth2GrantConnectors({ clientId, connectorUids: [] })).toMatchObject({
      connectorUids: [],
    });
    const [grant] = (await apps.listOAuth2Grants({})).data;
    expect(grant?.connectorUids).toEqual([]);
    expect(
      (await apps.updateOAuth2GrantConnectors({ clientId, connectorUids: [gmail] })).connectorUids,
    ).toEqual([gmail]);
    const rpc = "oauth.v2.OAuth2AppService/UpdateOAuth2GrantConnectors";
    const rows = await rowsIn(
      rig.db.url,
      `SELECT after FROM audit_event WHERE operation = '${rpc}' AND subject = '${grant?.id}' ORDER BY at`,
    );
    expect(rows.map(({ after }) => JSON.parse(String(after)))).toEqual([
      { clientId, connectorUids: [] },
      { clientId, connectorUids: [gmail] },
    ]);
  });

  test("get no connector that the app cannot request, none without the scope, and none by a key", async () => {
    const owner = await rig.person();
    const of = await newApp(rig.service, owner);
    const { clientId } = await tokenOf(rig.service, owner, { of, ...connecting });
    const bo = await rig.person({ with: owner });
    await tokenOf(rig.service, bo, { of });
    const [owners, bos] = [await sessionOf(owner), await sessionOf(bo)];
    const change = { clientId, connectorUids: [gmail] };
    expect(
      await outcomeOf(owners.updateOAuth2GrantConnectors({ clientId, connectorUids: [gmail, "other"] })),
    ).toContain("connector_uids[1]: is not a connector");
    expect(await outcomeOf(bos.updateOAuth2GrantConnectors(change))).toBe("NotFound: grant not found");
    expect(
      await outcomeOf(owners.updateOAuth2GrantConnectors({ ...change, clientId: "client_unknown" })),
    ).toBe("NotFound: grant not found");
    expect(await outcomeOf(appsOf(owner).updateOAuth2GrantConnectors(change))).toMatch(/^PermissionDenied/);
  });
});
