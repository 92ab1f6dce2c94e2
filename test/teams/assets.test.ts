import type { JsonObject } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { type KeyKind, keyKinds } from "../../src/core/accounts/caller.ts";
import { TeamAssetAuditApiV2Service } from "../../src/gen/proto/team/v2/team_asset_audit_service_pb.ts";
import { TeamAssetManageApiV2Service } from "../../src/gen/proto/team/v2/team_asset_manage_service_pb.ts";
import { AssetType, ShareScope } from "../../src/gen/proto/team/v2/team_asset_pb.ts";
import { describeOnOne } from "../support/database.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Person } from "../support/service.ts";
import { rpcWires, type V2Reply } from "../support/wires.ts";
import { hostOf, openSiteRig, publish, type SiteRig, saveSite } from "../websites/site.ts";

const test = sampledTest(2);

const SHARES = "ASSET_TYPE_SESSION_SHARE";
const SITES = "ASSET_TYPE_WEBSITE_PUBLISH";
const [OWNER, TEAM, PUBLIC] = ["SHARE_SCOPE_OWNER", "SHARE_SCOPE_TEAM_ONLY", "SHARE_SCOPE_PUBLIC"];
const rfc3339 = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/);

/** A team with a member, and the owner's keys for assets. */
interface Team {
  readonly owner: Person;
  readonly ann: Person;
  readonly audit: Person;
  readonly management: Person;
}

const refusal = ({ status, body }: V2Reply) => [status, body.error?.code, body.error?.message];

describeOnOne("team assets", (database) => {
  let town: SiteRig;
  beforeAll(async () => {
    town = await openSiteRig(database);
  });
  afterAll(() => town[Symbol.asyncDispose]());

  const keyOf = (owner: Person, kind: KeyKind) => town.service.person({ as: owner, with: owner, kind });

  async function newTeam(): Promise<Team> {
    const owner = await town.service.person();
    const ann = await town.service.person({ with: owner });
    return {
      owner,
      ann,
      audit: await keyOf(owner, "team_asset_audit"),
      management: await keyOf(owner, "team_asset_mgmt"),
    };
  }

  const share = async (person: Person, share_visibility = "public", title = "Plan"): Promise<string> =>
    (await person.v2("task.create", { message: { content: "[[say hello]]" }, share_visibility, title })).body[
      "task_id"
    ];

  async function list({ audit }: Pick<Team, "audit">, filters: JsonObject = {}) {
    const reply = await audit.v2("team.asset.list", { asset_type: SHARES, ...filters });
    expect(refusal(reply)).toEqual([200, undefined, undefined]);
    return reply.body;
  }
  const ids = ({ assets }: { readonly [member: string]: { readonly uid: string }[] | unknown }) =>
    (assets as { readonly uid: string }[]).map(({ uid }) => uid); // as in the specification

  const cap = (
    { management }: Pick<Team, "management">,
    share_uid: string,
    permission = TEAM ?? "",
    more: JsonObject = {},
  ) => management.v2("team.asset.update_scope", { share_uid, permission, ...more });

  async function capped(team: Pick<Team, "management">, uid: string, permission = TEAM): Promise<void> {
    expect(refusal(await cap(team, uid, permission))).toEqual([200, undefined, undefined]);
  }

  const visibilityOf = async (person: Person, task_id: string) =>
    (await person.v2("task.detail", { task_id })).body["task"].share_visibility;

  describe("team.asset.list", () => {
    test("shows a shared task with exactly the specified fields (spec/enterprise.md 9.2)", async () => {
      const team = await newTeam();
      const task_id = await share(team.ann);
      await share(team.ann, "private");
      const body = await list(team);
      expect(body).toEqual({
        ...{ ok: true, request_id: expect.stringMatching(/^req_/), total: 1, limit: 100, offset: 0 },
        assets: [
          {
            ...{
              uid: task_id,
              asset_type: SHARES,
              asset_name: "Plan",
              asset_id: task_id,
              permission: PUBLIC,
            },
            ...{
              shared_at: rfc3339,
              last_operated_at: rfc3339,
              owner_id: team.ann.accountId,
              session_id: task_id,
              asset_exists: true,
            },
          },
        ],
      });
    });

    test("shows a website after its publication, with the lower one of both caps", async () => {
      const team = await newTeam();
      const task_id = await saveSite(team.ann);
      expect((await list(team, { asset_type: SITES }))["total"]).toBe(0);
      const { website_id } = await publish(team.ann, task_id);
      const [asset] = (await list(team, { asset_type: SITES }))["assets"];
      expect(asset).toEqual({
        ...{
          uid: website_id,
          asset_type: SITES,
          asset_name: "My site",
          asset_id: website_id,
          permission: PUBLIC,
        },
        ...{
          shared_at: rfc3339,
          last_operated_at: rfc3339,
          owner_id: team.ann.accountId,
          session_id: task_id,
          asset_exists: true,
        },
      });
      const { store } = town.service;
      await store.change((tx) => tx.websites.setOperatorCap(String(website_id), "team", 1));
      await capped(team, String(website_id), PUBLIC);
      expect((await list(team, { asset_type: SITES }))["assets"]).toMatchObject([
        { permission: TEAM, max_permission: TEAM },
      ]);
      await store.change((tx) => tx.websites.setOperatorCap(String(website_id), null, 1));
      expect((await list(team, { asset_type: SITES }))["assets"]).toMatchObject([
        { permission: PUBLIC, max_permission: PUBLIC },
      ]);
    });

    test.each([
      "ASSET_TYPE_SESSION_COLLABORATION",
      "ASSET_TYPE_FILE_SHARE",
      "ASSET_TYPE_PROJECT_SHARE",
    ])("%s: does not share the asset in the team", async (asset_type) => {
      const team = await newTeam();
      await share(team.ann);
      expect(await list(team, { asset_type })).toMatchObject({ assets: [], total: 0, limit: 100, offset: 0 });
    });

    test("a withdrawn share stays, with the owner's visibility; assets that were never shared are not listed", async () => {
      const team = await newTeam();
      const [withdrawn, late] = [await share(team.ann), await share(team.ann, "private")];
      await team.ann.v2("task.update", { task_id: withdrawn, share_visibility: "private" });
      expect(await list(team)).toMatchObject({ assets: [{ uid: withdrawn, permission: OWNER }], total: 1 });
      await team.ann.v2("task.update", { task_id: late, share_visibility: "team" });
      expect(ids(await list(team, { permission: TEAM }))).toEqual([late]);
    });

    test("filters by name, owner, time and scope as set, with both names of each, in a body and in a query", async () => {
      const team = await newTeam();
      const bo = await town.service.person({ with: team.owner });
      const [plan, offer] = [
        await share(team.ann, "public", "Übersicht_1%"),
        await share(bo, "team", "Angebot"),
      ];
      const [{ shared_at }] = (await list(team, { owner_id: bo.accountId }))["assets"];
      const before = new Date(Date.parse(shared_at) - 1).toISOString();
      const filters: readonly (readonly [JsonObject, readonly string[]])[] = [
        ...["keyword", "asset_name"].flatMap((name) => [
          [{ [name]: "übersicht_1%" }, [plan]] as const,
          [{ [name]: "sicht" }, []] as const,
        ]),
        [{ keyword: "%" }, []],
        [{ keyword: "" }, [offer, plan]],
        ...["owner_id", "owner"].flatMap((name) => [
          [{ [name]: bo.accountId }, [offer]] as const,
          [{ [name]: "nobody" }, []] as const,
        ]),
        ...["start_time", "shared_after"].map(
          (name) => [{ [name]: shared_at, owner: bo.accountId }, [offer]] as const,
        ),
        ...["end_time", "shared_before"].map(
          (name) => [{ [name]: shared_at, owner: bo.accountId }, [offer]] as const,
        ),
        [{ shared_before: before, owner: bo.accountId }, []],
        [{ permission: TEAM ?? "" }, [offer]],
        [{ permission: OWNER ?? "" }, []],
        [{ permission: "SHARE_SCOPE_UNSPECIFIED", keyword: "a" }, [offer]],
      ];
      for (const [filter, expected] of filters) {
        for (const method of ["POST", "GET"] as const) {
          const { body } = await team.audit.v2(
            "team.asset.list",
            { asset_type: SHARES, ...filter },
            { method },
          );
          expect([body["total"], ids(body).toSorted()], `${method} ${JSON.stringify(filter)}`).toEqual([
            expected.length,
            expected.toSorted(),
          ]);
        }
      }
    });

    test("the scope filter uses the scope before every cap", async () => {
      const team = await newTeam();
      const uid = await share(team.ann);
      await capped(team, uid, OWNER);
      expect(await list(team, { permission: PUBLIC })).toMatchObject({
        assets: [{ uid, permission: OWNER, max_permission: OWNER }],
      });
      expect((await list(team, { permission: OWNER }))["total"]).toBe(0);
    });

    test("a deleted share stays in the list, marked as deleted", async () => {
      const team = await newTeam();
      const task_id = await saveSite(team.ann);
      const { website_id } = await publish(team.ann, task_id);
      await team.ann.v2("task.update", { task_id, share_visibility: "team", title: "Notes" });
      expect((await team.ann.v2("task.delete", { task_id })).status).toBe(200);
      const gone = { asset_exists: false, owner_id: team.ann.accountId, session_id: task_id };
      expect((await list(team))["assets"]).toMatchObject([
        { uid: task_id, asset_name: "Notes", permission: TEAM, ...gone },
      ]);
      expect((await list(team, { asset_type: SITES }))["assets"]).toMatchObject([
        { uid: website_id, asset_name: "My site", permission: PUBLIC, ...gone },
      ]);
      for (const uid of [task_id, String(website_id)])
        expect(refusal(await cap(team, uid))).toEqual([
          412,
          "failed_precondition",
          "the shared object is deleted",
        ]);
    });

    test("a deleted website keeps only its listed fields, and a never published one keeps nothing", async () => {
      const team = await newTeam();
      const [published, bare] = [await saveSite(team.ann), await saveSite(team.ann)];
      const status = await publish(team.ann, published);
      for (const task_id of [published, bare]) await team.ann.v2("task.delete", { task_id });
      expect((await list(team, { asset_type: SITES }))["total"]).toBe(1);
      expect((await town.visit(hostOf(status))).status).toBe(404);
      expect((await team.ann.v2("website.status", { website_id: status["website_id"] })).status).toBe(404);
      const home = await town.service.person({ personal: true });
      const task_id = await saveSite(home);
      const { website_id } = await publish(home, task_id);
      await home.v2("task.delete", { task_id });
      const rows = await town.service.store.shares.list(home.spaceId, "website", {}, { limit: 9, offset: 0 });
      expect([rows.total, website_id === undefined]).toEqual([0, false]);
    });

    test("another team's shares are in no list, and not found", async () => {
      const [team, other] = [await newTeam(), await newTeam()];
      const uid = await share(other.ann);
      expect((await list(team))["total"]).toBe(0);
      const unknown = refusal(await cap(team, "unknown"));
      expect(unknown).toEqual([404, "not_found", "share not found"]);
      expect(refusal(await cap(team, uid))).toEqual(unknown);
      expect(await visibilityOf(other.ann, uid)).toBe("public");
    });

    test.each([
      [{}, "asset_type"],
      [{ asset_type: "ASSET_TYPE_UNSPECIFIED" }, "asset_type"],
      [{ asset_type: "ASSET_TYPE_PLANET" }, "asset_type"],
      [{ asset_type: SHARES, limit: 0 }, "limit"],
      [{ asset_type: SHARES, limit: 1001 }, "limit"],
      [{ asset_type: SHARES, offset: -1 }, "offset"],
      [{ asset_type: SHARES, permission: "PUBLIC" }, "permission"],
      [{ asset_type: SHARES, shared_after: "yesterday" }, "start_time"],
    ])("%j is refused, with the name of the field", async (filters, field) => {
      const { audit } = await newTeam();
      const reply = await audit.v2("team.asset.list", filters);
      expect(refusal(reply)).toEqual([400, "invalid_argument", expect.stringContaining(field)]);
    });
  });

  describe("team.asset.update_scope", () => {
    test("a capped task shows its capped visibility on the next request, everywhere, and a wider setting takes effect as the cap", async () => {
      const team = await newTeam();
      const { ann } = team;
      const task_id = await share(ann);
      await capped(team, task_id, TEAM);
      expect(await visibilityOf(ann, task_id)).toBe("team");
      const { body: page } = await ann.v2("task.list");
      expect(page["data"]).toMatchObject([{ id: task_id, share_visibility: "team" }]);
      const { body: updated } = await ann.v2("task.update", { task_id, share_visibility: "public" });
      expect(updated).toMatchObject({
        share_visibility: "team",
        share_url: expect.stringContaining(task_id),
      });
      await capped(team, task_id, OWNER);
      expect(await visibilityOf(ann, task_id)).toBe("private");
      for (const share_visibility of ["public", "team"]) {
        const { body } = await ann.v2("task.update", { task_id, share_visibility });
        expect([body["share_visibility"], body["share_url"]]).toEqual(["private", undefined]);
      }
      // Exports use the capped visibility too.
      const discovery = await keyOf(team.owner, "ediscovery");
      const { body: exported } = await discovery.v2("enterprise.task.list", { user: ann.accountId });
      expect(exported["records"]).toMatchObject([{ task_uid: task_id, is_shared: false }]);
    });

    test("a raised cap restores the owner's setting, and not more", async () => {
      const team = await newTeam();
      const task_id = await share(team.ann);
      await capped(team, task_id, OWNER);
      await team.ann.v2("task.update", { task_id, share_visibility: "team" });
      await capped(team, task_id, PUBLIC);
      expect(await visibilityOf(team.ann, task_id)).toBe("team");
      expect((await list(team))["assets"]).toMatchObject([{ permission: TEAM, max_permission: PUBLIC }]);
    });

    test("a capped website is capped for its next visitor, and nothing is published beyond the cap", async () => {
      const team = await newTeam();
      const task_id = await saveSite(team.ann);
      const status = await publish(team.ann, task_id);
      const uid = String(status["website_id"]);
      expect((await town.visit(hostOf(status))).status).toBe(200);
      await capped(team, uid, TEAM);
      expect((await town.visit(hostOf(status))).status).toBe(302);
      expect((await team.ann.v2("website.status", { task_id })).body["visibility"]).toBe("team");
      for (const [name, filters] of [
        ["website.publish", {}],
        ["website.publish", { visibility: "public" }],
        ["website.update", { visibility: "public" }],
      ] as const)
        expect(refusal(await team.ann.v2(name, { task_id, ...filters })).slice(0, 2), name).toEqual([
          403,
          "permission_denied",
        ]);
      expect(await publish(team.ann, task_id, "team")).toMatchObject({
        publish_status: "published",
        visibility: "team",
      });
      await capped(team, uid, OWNER);
      expect((await town.visit(hostOf(status))).status).toBe(404);
      expect((await team.ann.v2("website.status", { task_id })).body["visibility"]).toBe("private");
    });

    test("the operator's cap and the team's both apply, in either order", async () => {
      const team = await newTeam();
      const task_id = await saveSite(team.ann);
      const { website_id } = await publish(team.ann, task_id);
      const operator = (most: "private" | "team" | null) =>
        town.service.store.change((tx) => tx.websites.setOperatorCap(String(website_id), most, Date.now()));
      const visibility = async () => (await team.ann.v2("website.status", { task_id })).body["visibility"];
      await operator("private");
      await capped(team, String(website_id), PUBLIC);
      expect(await visibility()).toBe("private");
      await capped(team, String(website_id), TEAM);
      await operator(null);
      expect(await visibility()).toBe("team");
    });

    test.each([
      [{ permission: TEAM }, "share_uid"],
      [{ share_uid: "", permission: TEAM }, "share_uid"],
      [{ share_uid: "x" }, "permission"],
      [{ share_uid: "x", permission: "SHARE_SCOPE_UNSPECIFIED" }, "permission"],
      [{ share_uid: "x", permission: "PUBLIC" }, "permission"],
      [{ share_uid: "x", permission: TEAM, note: "x".repeat(2001) }, "note"],
    ])("%j is refused, with the name of the field", async (filters, field) => {
      const { management } = await newTeam();
      const reply = await management.v2("team.asset.update_scope", filters);
      expect(refusal(reply)).toEqual([400, "invalid_argument", expect.stringContaining(field)]);
    });

    test("a task that was never shared is not a share", async () => {
      const team = await newTeam();
      expect(refusal(await cap(team, await share(team.ann, "private")))[0]).toBe(404);
    });
  });

  test.each([...rpcWires])("both operations over %s", async (wire) => {
    const team = await newTeam();
    const uid = await share(team.ann);
    const manager = team.management.client(TeamAssetManageApiV2Service, wire);
    await manager.updateAssetShareScope({ shareUid: uid, permission: ShareScope.TEAM_ONLY });
    const auditor = team.audit.client(TeamAssetAuditApiV2Service, wire);
    const { assets, total } = await auditor.listShareableAssets({ assetType: AssetType.SESSION_SHARE });
    expect([total, assets]).toMatchObject([
      1,
      [{ uid, permission: ShareScope.TEAM_ONLY, maxPermission: ShareScope.TEAM_ONLY }],
    ]);
  });

  test("audit keys may list, only management keys may override, and other kinds may do neither (spec/enterprise.md 9.2, 9.3)", async () => {
    const team = await newTeam();
    const uid = await share(team.ann);
    const opens = new Map<KeyKind, readonly number[]>();
    for (const kind of keyKinds) {
      const person = await keyOf(team.owner, kind);
      const listed = await person.v2("team.asset.list", { asset_type: SHARES });
      const over = await person.v2("team.asset.update_scope", { share_uid: uid, permission: PUBLIC });
      opens.set(kind, [listed.status, over.status]);
    }
    const other = keyKinds.filter((kind) => !kind.startsWith("team_asset"));
    expect(Object.fromEntries(opens)).toEqual({
      ...Object.fromEntries(other.map((kind) => [kind, [403, 403]])),
      ...{ team_asset_audit: [200, 403], team_asset_mgmt: [200, 200] },
    });
  });

  test("each list call and each override writes an audit row, with kind and name of the key, and the note (spec/enterprise.md 9.1)", async () => {
    const team = await newTeam();
    const uid = await share(team.ann);
    const rows = async () => {
      const { body } = await team.owner.v2("audit.list", { order: "asc" });
      return body["data"].filter(({ operation }: { readonly operation: string }) =>
        operation.startsWith("team.v2.TeamAsset"),
      );
    };
    await list(team, { keyword: "secret words", limit: 5 });
    await team.audit.v2(
      "team.asset.list",
      { asset_type: SITES },
      { method: "GET", headers: { "idempotency-key": "a" } },
    );
    await team.audit.v2("team.asset.list", { asset_type: SITES, limit: 0 });
    await cap(team, uid, TEAM, { note: 'Not "yet"\nfor all.' });
    await cap(team, "unknown");
    const list_ = {
      operation: "team.v2.TeamAssetAuditApiV2Service/ListShareableAssets",
      credential: `key:${team.audit.keyId}`,
    };
    const key = { keyType: "KEY_TYPE_TEAM_ASSET_AUDIT", apiKeyName: expect.any(String) };
    const found = await rows();
    expect(found).toMatchObject([
      { ...list_, subject: SHARES, after: { ...key, byName: true, limit: 5, offset: 0, total: 0 } },
      { ...list_, subject: SITES, after: { ...key, limit: 100, offset: 0, total: 0 } },
      {
        operation: "team.v2.TeamAssetManageApiV2Service/UpdateAssetShareScope",
        ...{ subject: uid, before: { visibility: "public", maxVisibility: null } },
        after: {
          ...{ visibility: "team", maxVisibility: "team", teamMax: "team" },
          ...{
            keyType: "KEY_TYPE_TEAM_ASSET_MGMT",
            apiKeyName: expect.any(String),
            remark: 'Not "yet"\nfor all.',
          },
        },
      },
    ]);
    expect(JSON.stringify(found)).not.toContain("secret words");
  });

  test("after fifty concurrent overrides and fifty updates, in any order, no task exceeds its cap", async () => {
    const team = await newTeam();
    const tasks = await Promise.all(Array.from({ length: 50 }, () => share(team.ann, "private")));
    for (const task_id of tasks) await team.ann.v2("task.update", { task_id, share_visibility: "team" });
    await Promise.all(
      tasks.flatMap((task_id, n) => {
        const calls = [
          () => capped(team, task_id, TEAM),
          () => team.ann.v2("task.update", { task_id, share_visibility: "public" }),
        ];
        return (n % 2 === 0 ? calls : calls.toReversed()).map((call) => call());
      }),
    );
    for (const task_id of tasks) {
      expect(await visibilityOf(team.ann, task_id)).toBe("team");
      const { body } = await team.ann.v2("task.update", { task_id, share_visibility: "public" });
      expect(body["share_visibility"]).toBe("team");
    }
    const { assets } = await list(team, { limit: 50 });
    for (const asset of assets) expect(asset).toMatchObject({ permission: TEAM, max_permission: TEAM });
  });
});
