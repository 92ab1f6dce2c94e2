import { create } from "@bufbuild/protobuf";
import { FieldMaskSchema } from "@bufbuild/protobuf/wkt";
import { beforeAll, describe, expect, test } from "vitest";
import { connectors } from "../../src/core/connectors/catalogue.ts";
import { secretDigest } from "../../src/core/oauth/app.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { SkillOwnerType } from "../../src/gen/proto/settings/v1/skill_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import type { Person } from "../support/service.ts";
import { webhookRig } from "../webhooks/rig.ts";
import { appsOf, garden, outcomeOf } from "./settings-rig.ts";

const [one = "", other = ""] = connectors.map(({ id }) => id);
const mask = (...paths: string[]) => ({ updateMask: create(FieldMaskSchema, { paths }) });

describeOnOne("apps of a team", (database) => {
  const rig = webhookRig(database);
  let ann: Person;
  let bo: Person;
  beforeAll(async () => {
    ann = await rig.person();
    bo = await rig.person({ with: ann });
  });

  const made = async (who = ann, more: object = {}) => {
    const { app, clientSecret } = await appsOf(who).createOAuth2App({ ...garden, ...more });
    if (!app) throw new Error("no app");
    return { app, clientSecret, clientId: app.clientId };
  };
  const generation = async (clientId: string) => (await rig.service.store.apps.find(clientId))?.generation;

  test("are made with a client id and a first secret; only the secret's hash is stored", async () => {
    const hook = await rig.hook();
    const { app, clientSecret } = await made(bo, {
      description: "Grows.",
      homepageUrl: "https://a.example",
      webhookUrl: `${hook.url}/hook?t=deadbeef`,
      confidentialOnly: true,
      loopbackAnyPort: true,
      scopeConfig: { scopes: ["create_task", "use_connectors"], connectorUids: [one] },
    });
    expect(app).toMatchObject({
      clientId: expect.stringMatching(/^client_[2-9A-HJ-NP-Za-km-z]{22}$/),
      appType: "team",
      name: "Garden",
      description: "Grows.",
      redirectUris: ["https://a.example/cb"],
      homepageUrl: "https://a.example",
      scopeConfig: { scopes: ["create_task", "use_connectors"], connectorUids: [one] },
      webhookUrl: `${hook.url}/hook?t=deadbeef`,
      skillIds: [],
      confidentialOnly: true,
      loopbackAnyPort: true,
      creatorId: bo.accountId,
    });
    expect(clientSecret).toMatch(/^secret_[A-Za-z0-9_-]{43}$/);
    const [row] = await rowsIn(
      rig.db.url,
      `SELECT digest, last4 FROM oauth_secret WHERE client_id = '${app.clientId}'`,
    );
    expect(row).toEqual({ digest: secretDigest(clientSecret), last4: clientSecret.slice(-4) });
    const audit = await rig.auditRow("oauth.v2.OAuth2AppService/CreateOAuth2App", app.clientId);
    expect(audit).toMatchObject({ subject: app.clientId, account_id: bo.accountId });
    expect(JSON.stringify(audit)).not.toMatch(/secret_|deadbeef/);
    expect(String(audit["after"])).toContain(`"webhookHost":"${new URL(hook.url).host}"`);
  });

  test("are listed newest first, and shown, to every member except guests; another team's app is not found", async () => {
    const carl = await rig.person();
    const mine = [await made(carl), await made(carl)].map(({ clientId }) => clientId);
    const dora = await rig.person({ with: carl });
    expect(new Set((await appsOf(dora).listOAuth2Apps({})).data.map(({ clientId }) => clientId))).toEqual(
      new Set(mine),
    );
    const [first = ""] = mine;
    expect((await appsOf(dora).getOAuth2App({ clientId: first })).app?.clientId).toBe(first);
    const stranger = await rig.person();
    expect((await appsOf(stranger).listOAuth2Apps({})).data).toEqual([]);
    const calls = [
      (clientId: string) => appsOf(stranger).getOAuth2App({ clientId }),
      (clientId: string) => appsOf(stranger).updateOAuth2App({ clientId, name: "Mine" }),
      (clientId: string) => appsOf(stranger).deleteOAuth2App({ clientId }),
      (clientId: string) => appsOf(stranger).createOAuth2AppSecret({ clientId }),
      (clientId: string) => appsOf(stranger).listOAuth2AppSecrets({ clientId }),
      (clientId: string) => appsOf(stranger).revokeOAuth2AppSecret({ clientId, secretId: "x" }),
    ];
    for (const call of calls) {
      expect(await outcomeOf(call(first))).toBe("NotFound: app not found");
      expect(await outcomeOf(call("client_unknown"))).toBe("NotFound: app not found");
    }
    const listed = await appsOf(carl).getOAuth2App({ clientId: first });
    expect(listed.app?.name).toBe("Garden");
  });

  test("are for teams: guests and personal spaces have none", async () => {
    const guest = await rig.person({ with: ann, role: "guest" });
    const alone = await rig.person({ personal: true });
    for (const who of [guest, alone]) {
      const session = (await who.session()).client(OAuth2AppService);
      for (const client of [appsOf(who), session]) {
        expect(await outcomeOf(client.listOAuth2Apps({}))).toMatch(/^PermissionDenied: /);
        expect(await outcomeOf(client.createOAuth2App(garden))).toMatch(/^PermissionDenied: /);
      }
    }
  });

  test("can be made and changed with a session and with a key", async () => {
    const session = (await bo.session()).client(OAuth2AppService);
    const { app } = await session.createOAuth2App(garden);
    const { app: changed } = await session.updateOAuth2App({
      clientId: app?.clientId ?? "",
      name: "Orchard",
    });
    expect(changed).toMatchObject({ name: "Orchard", creatorId: bo.accountId });
  });

  test("can be changed, deleted and given secrets by creator, owner, super admin and admin, and by no other member", async () => {
    const { clientId } = await made(bo);
    const colleague = await rig.person({ with: ann });
    const calls = [
      () => appsOf(colleague).updateOAuth2App({ clientId, name: "Mine" }),
      () => appsOf(colleague).deleteOAuth2App({ clientId }),
      () => appsOf(colleague).createOAuth2AppSecret({ clientId }),
      () => appsOf(colleague).listOAuth2AppSecrets({ clientId }),
      () => appsOf(colleague).revokeOAuth2AppSecret({ clientId, secretId: "x" }),
    ];
    for (const call of calls)
      expect(await outcomeOf(call())).toMatch(/^PermissionDenied: an app can be changed by its creator/);
    const editors = [
      bo,
      ann,
      await rig.person({ with: ann, role: "super_admin" }),
      await rig.person({ with: ann, role: "admin" }),
    ];
    for (const editor of editors)
      expect((await appsOf(editor).updateOAuth2App({ clientId, name: "Ours" })).app?.name).toBe("Ours");
    await appsOf(ann).deleteOAuth2App({ clientId });
    expect(await outcomeOf(appsOf(bo).getOAuth2App({ clientId }))).toBe("NotFound: app not found");
  });

  test.each<[why: string, part: object, refusal: string]>([
    [
      "a bad redirect URI",
      { redirectUris: ["https:///cb"] },
      "InvalidArgument: redirect_uris[0]: must have // and a host",
    ],
    ["a name that reverses the text direction", { name: "a\u202eb" }, "InvalidArgument: name: "],
    ["a homepage of http", { homepageUrl: "http://a.example" }, "InvalidArgument: homepage_url: "],
    ["a webhook of http", { webhookUrl: "http://a.example" }, "InvalidArgument: webhook_url: "],
    [
      "an unknown scope",
      { scopeConfig: { scopes: ["all"] } },
      "InvalidArgument: scope_config.scopes[0]: is not a scope",
    ],
    [
      "an unknown connector",
      { scopeConfig: { scopes: ["use_connectors"], connectorUids: ["x"] } },
      "InvalidArgument: scope_config.connector_uids[0]: is not a connector",
    ],
    [
      "use_connectors alone",
      { scopeConfig: { scopes: ["use_connectors"] } },
      "InvalidArgument: scope_config.connector_uids: ",
    ],
    ["a skill that is not the app's", { skillIds: ["s1"] }, "InvalidArgument: skill_ids[0]: "],
    [
      "51 skills",
      { skillIds: Array.from({ length: 51 }, (_, i) => `s${i}`) },
      "InvalidArgument: skill_ids: ",
    ],
    [
      "21 redirect URIs",
      { redirectUris: Array.from({ length: 21 }, (_, i) => `https://a.example/${i}`) },
      "InvalidArgument: redirect_uris: ",
    ],
    [
      "an overlong redirect URI",
      { redirectUris: [`https://a.example/${"x".repeat(2048)}`] },
      "InvalidArgument: redirect_uris[0]: ",
    ],
    ["an overlong description", { description: "x".repeat(1001) }, "InvalidArgument: description: "],
  ])("refuse %s when made and when changed, and then nothing changes", async (_why, part, refusal) => {
    const carl = await rig.person();
    expect(
      (await outcomeOf(appsOf(carl).createOAuth2App({ ...garden, ...part }))).slice(0, refusal.length),
    ).toBe(refusal);
    expect((await appsOf(carl).listOAuth2Apps({})).data).toEqual([]);
    const { app, clientId } = await made(carl);
    expect(
      (await outcomeOf(appsOf(carl).updateOAuth2App({ clientId, ...part }))).slice(0, refusal.length),
    ).toBe(refusal);
    expect((await appsOf(carl).getOAuth2App({ clientId })).app).toEqual(app);
  });

  test("need a name and a redirect URI", async () => {
    expect(await outcomeOf(appsOf(ann).createOAuth2App({ name: "Garden" }))).toMatch(
      /^InvalidArgument: redirect_uris: /,
    );
    expect(await outcomeOf(appsOf(ann).createOAuth2App({ redirectUris: garden.redirectUris }))).toMatch(
      /^InvalidArgument: name: /,
    );
  });

  describe("an update", () => {
    test("without a mask sets the present fields and the non-empty lists, and replaces scope_config as one value", async () => {
      const { app, clientId } = await made(ann, {
        description: "Grows.",
        scopeConfig: { scopes: ["create_task", "use_connectors"], connectorUids: [one] },
      });
      const { app: after } = await appsOf(ann).updateOAuth2App({
        clientId,
        description: "",
        confidentialOnly: true,
        scopeConfig: { scopes: ["create_project"] },
      });
      const scopeConfig = { scopes: ["create_project"], connectorUids: [] };
      expect(after).toMatchObject({
        ...app,
        description: "",
        confidentialOnly: true,
        scopeConfig,
        updatedAt: after?.updatedAt,
      });
      const audit = await rig.auditRow("oauth.v2.OAuth2AppService/UpdateOAuth2App", clientId);
      expect(JSON.parse(String(audit["before"]))).toEqual({
        description: "Grows.",
        confidentialOnly: false,
        scopes: ["create_task", "use_connectors"],
        connectorUids: [one],
      });
      expect(JSON.parse(String(audit["after"]))).toMatchObject({
        scopes: ["create_project"],
        connectorUids: [],
      });
    });

    test("accepts the body of the specification (spec/oauth.md 1.3)", async () => {
      const { clientId } = await made();
      const reply = await fetch(`${rig.service.url}/oauth.v2.OAuth2AppService/UpdateOAuth2App`, {
        method: "POST",
        headers: { "content-type": "application/json", "x-service-api-key": ann.key },
        body: JSON.stringify({
          client_id: clientId,
          scope_config: { scopes: ["create_task", "use_connectors"], connector_uids: [one] },
        }),
      });
      expect(await reply.json()).toMatchObject({
        app: { clientId, scopeConfig: { scopes: ["create_task", "use_connectors"], connectorUids: [one] } },
      });
    });

    test("with a mask sets exactly the named fields, so that a list can be emptied", async () => {
      const { app, clientId } = await made(ann, {
        webhookUrl: (await rig.hook()).url,
        homepageUrl: "https://a.example",
      });
      await ann
        .client(SkillService)
        .createSkill({ ownerType: SkillOwnerType.APP, clientId, archive: Uint8Array.from(skillZip()) });
      const { app: after } = await appsOf(ann).updateOAuth2App({
        clientId,
        name: "Orchard",
        ...mask("skill_ids", "webhook_url"),
      });
      expect(after).toMatchObject({
        ...app,
        skillIds: [],
        webhookUrl: "",
        webhookId: "",
        updatedAt: after?.updatedAt,
      });
      const { app: last } = await appsOf(ann).updateOAuth2App({ clientId, name: "Orchard", ...mask("name") });
      expect(last).toMatchObject({ name: "Orchard", homepageUrl: "https://a.example" });
    });

    test.each([
      [["name", "generation"], "update_mask.paths[1]: names no field that can be set"],
      [["client_id"], "update_mask.paths[0]: names no field that can be set"],
      [["scope_config.scopes"], "update_mask.paths[0]: names no field that can be set"],
      [["to_string"], "update_mask.paths[0]: names no field that can be set"],
      [["redirect_uris"], "redirect_uris: must have 1 to 20 URIs"],
      [["name"], "name: must have 1 to 100 characters"],
    ])("with only the mask %j is refused", async (paths, why) => {
      const { app, clientId } = await made();
      const named = paths.includes("generation") ? { name: "Orchard" } : {};
      expect(
        await outcomeOf(appsOf(ann).updateOAuth2App({ clientId, ...named, ...mask(...paths) })),
      ).toContain(`InvalidArgument: ${why}`);
      expect((await appsOf(ann).getOAuth2App({ clientId })).app).toEqual(app);
    });

    test("raises the generation only for an expansion, also if something is removed at the same time (spec/decisions.md 30)", async () => {
      const { clientId } = await made(ann, { scopeConfig: { scopes: ["create_task", "create_project"] } });
      const update = async (scopes: string[], connectorUids: string[] = []) => {
        await appsOf(ann).updateOAuth2App({ clientId, scopeConfig: { scopes, connectorUids } });
        return generation(clientId);
      };
      expect(await update(["create_project", "create_task"])).toBe(1);
      expect(await update(["create_task"])).toBe(1);
      expect(await update(["create_task", "create_project"])).toBe(2);
      expect(await update(["create_task", "use_connectors"], [one])).toBe(3);
      expect(await update(["create_task", "use_connectors"], [other])).toBe(4);
      expect(await update(["create_task", "use_connectors"], [one, other])).toBe(5);
      expect(await update(["create_task", "use_connectors"], [one])).toBe(5);
      expect(await update([])).toBe(5);
      await appsOf(ann).updateOAuth2App({
        clientId,
        name: "Orchard",
        redirectUris: ["myapp://cb"],
        confidentialOnly: true,
      });
      expect(await generation(clientId)).toBe(5);
    });

    test("counts every expansion of concurrent updates", async () => {
      const { clientId } = await made();
      const added = ["create_task", "create_project", "use_my_browsers", "manage_all_tasks"];
      await Promise.all(
        added.map((scope) => appsOf(ann).updateOAuth2App({ clientId, scopeConfig: { scopes: [scope] } })),
      );
      // Each one replaced the previous one completely: four of them added something that was missing.
      expect(await generation(clientId)).toBe(5);
    });
  });

  test("are at most 50 in a team, also when the 50th and 51st are made at once", async () => {
    const carl = await rig.person();
    for (let i = 0; i < 49; i += 1) await made(carl);
    const two = await Promise.all([1, 2].map(() => outcomeOf(appsOf(carl).createOAuth2App(garden))));
    expect(two.toSorted()).toEqual(["ResourceExhausted: a team has at most 50 apps", "let in"]);
    const [gone] = (await appsOf(carl).listOAuth2Apps({})).data;
    await appsOf(carl).deleteOAuth2App({ clientId: gone?.clientId ?? "" });
    expect(await outcomeOf(appsOf(carl).createOAuth2App(garden))).toBe("let in");
  });

  describe("secrets", () => {
    test("are listed by their last four characters, newest first, and are never shown again", async () => {
      const { clientId, clientSecret } = await made();
      const { secret, clientSecret: second } = await appsOf(ann).createOAuth2AppSecret({ clientId });
      expect(second).toMatch(/^secret_[A-Za-z0-9_-]{43}$/);
      expect(secret?.last4).toBe(second.slice(-4));
      const { data } = await appsOf(ann).listOAuth2AppSecrets({ clientId });
      expect(new Set(data.map(({ last4 }) => last4))).toEqual(
        new Set([clientSecret.slice(-4), second.slice(-4)]),
      );
      const audit = await rig.auditRow("oauth.v2.OAuth2AppService/CreateOAuth2AppSecret", secret?.id);
      expect(String(audit["after"])).toContain(clientId);
      expect(JSON.stringify(audit)).not.toContain("secret_");
    });

    test("are at most 5, also when the 5th and 6th are requested at once; a revoked one frees its slot", async () => {
      const { clientId } = await made();
      for (const _ of [2, 3, 4]) await appsOf(ann).createOAuth2AppSecret({ clientId });
      const two = await Promise.all(
        [1, 2].map(() => outcomeOf(appsOf(ann).createOAuth2AppSecret({ clientId }))),
      );
      expect(two.toSorted()).toEqual(["ResourceExhausted: an app has at most 5 active secrets", "let in"]);
      const { data } = await appsOf(ann).listOAuth2AppSecrets({ clientId });
      expect(data).toHaveLength(5);
      const secretId = data[0]?.id ?? "";
      await appsOf(ann).revokeOAuth2AppSecret({ clientId, secretId });
      expect((await appsOf(ann).listOAuth2AppSecrets({ clientId })).data.map(({ id }) => id)).not.toContain(
        secretId,
      );
      expect(await outcomeOf(appsOf(ann).revokeOAuth2AppSecret({ clientId, secretId }))).toBe(
        "NotFound: secret not found",
      );
      expect(await outcomeOf(appsOf(ann).createOAuth2AppSecret({ clientId }))).toBe("let in");
    });

    test("of another app are not found", async () => {
      const [mine, its] = [await made(), await made()];
      const { data } = await appsOf(ann).listOAuth2AppSecrets({ clientId: its.clientId });
      const call = appsOf(ann).revokeOAuth2AppSecret({
        clientId: mine.clientId,
        secretId: data[0]?.id ?? "",
      });
      expect(await outcomeOf(call)).toBe("NotFound: secret not found");
    });

    test("are not returned twice: a repeat with the same Idempotency-Key is refused with the id made", async () => {
      const headers = { "idempotency-key": "once" };
      const { app } = await appsOf(bo).createOAuth2App(garden, { headers });
      const clientId = app?.clientId ?? "";
      expect(await outcomeOf(appsOf(bo).createOAuth2App(garden, { headers }))).toBe(
        `AlreadyExists: Idempotency-Key: already used, it made ${clientId}`,
      );
      const { secret } = await appsOf(bo).createOAuth2AppSecret({ clientId }, { headers });
      expect(await outcomeOf(appsOf(bo).createOAuth2AppSecret({ clientId }, { headers }))).toBe(
        `AlreadyExists: Idempotency-Key: already used, it made ${secret?.id}`,
      );
      expect((await appsOf(bo).listOAuth2AppSecrets({ clientId })).data).toHaveLength(2);
    });
  });
});
