import { beforeAll, describe, expect, test } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { describeOnOne, nodesOf } from "../support/database.ts";
import { codeFor, exchangeCode, refreshWith } from "../support/oauth.ts";
import type { Person } from "../support/service.ts";
import { newApp, type Token, tokenOf } from "../support/token.ts";
import { callV2 } from "../support/wires.ts";
import { appsOf, outcomeOf, settingsRig } from "./settings-rig.ts";

const revoked = "401 Invalid or missing API key or access token: bearer token is invalid or revoked";
const expanded = "401 Invalid or missing API key or access token: reauthorization_required";

describeOnOne("app grants of members", (database) => {
  const rig = settingsRig(database, { nodes: nodesOf(database) });
  let ann: Person;
  let bo: Person;
  beforeAll(async () => {
    ann = await rig.person();
    bo = await rig.person({ with: ann });
  });

  /** The answer of every node to a token, on its next call. */
  const answers = async ({ headers }: Token): Promise<string[]> => {
    const nodes = rig.service.nodes.map(({ url }) => callV2(url, "user.me", {}, { headers }));
    const answers = (await Promise.all(nodes)).map(({ status, body }) =>
      body.error ? `${status} ${body.error.message}` : String(status),
    );
    return [...new Set(answers)];
  };

  test("are listed to their own member, newest first, with the app's name and page", async () => {
    const of = await newApp(rig.service, ann);
    await tokenOf(rig.service, bo, { of, scopes: ["create_task", "create_project"] });
    const { data } = await appsOf(bo).listOAuth2Grants({});
    expect(data).toHaveLength(1);
    expect(data[0]).toMatchObject({
      clientId: of.app.clientId,
      appName: of.app.name,
      homepageUrl: of.app.homepageUrl,
      scopes: ["create_task", "create_project"],
      connectorUids: [],
      ...{ verified: true, expanded: false },
    });
    const second = await newApp(rig.service, ann);
    await tokenOf(rig.service, bo, { of: second, now: Date.now() + 5 });
    const listed = (await appsOf(bo).listOAuth2Grants({})).data.map(({ clientId }) => clientId);
    expect(listed).toEqual([second.app.clientId, of.app.clientId]);
    expect((await appsOf(ann).listOAuth2Grants({})).data).toEqual([]);
  });

  test("when revoked, end all tokens and codes of the app for this user by the next call; those of others stay valid", async () => {
    const of = await newApp(rig.service, ann);
    const [one, two] = [await tokenOf(rig.service, ann, { of }), await tokenOf(rig.service, ann, { of })];
    const bos = await tokenOf(rig.service, bo, { of });
    const code = await codeFor(rig.service, ann, of, "pkce");
    const { clientId } = one;
    expect([await answers(one), await answers(two)]).toEqual([["200"], ["200"]]);
    expect(
      await outcomeOf((await ann.session()).client(OAuth2AppService).revokeOAuth2Grant({ clientId })),
    ).toBe("let in");
    expect([await answers(one), await answers(two), await answers(bos)]).toEqual([
      [revoked],
      [revoked],
      ["200"],
    ]);
    expect((await exchangeCode(rig.service, of, "pkce", code)).body).toMatchObject({
      error: "invalid_grant",
    });
    expect((await refreshWith(rig.service, of, "pkce", one.refreshToken)).body).toMatchObject({
      error: "invalid_grant",
    });
    expect((await appsOf(ann).listOAuth2Grants({})).data.map((grant) => grant.clientId)).not.toContain(
      clientId,
    );
    expect(await outcomeOf(appsOf(ann).revokeOAuth2Grant({ clientId }))).toBe("NotFound: grant not found");
    const secondTokens = await tokenOf(rig.service, ann, { of });
    expect([await answers(secondTokens), await answers(one)]).toEqual([["200"], [revoked]]);
  });

  test("cannot be revoked by another member of any role", async () => {
    const of = await newApp(rig.service, ann);
    const token = await tokenOf(rig.service, bo, { of });
    const stranger = await rig.person();
    for (const who of [ann, stranger]) {
      expect(await outcomeOf(appsOf(who).revokeOAuth2Grant({ clientId: token.clientId }))).toBe(
        "NotFound: grant not found",
      );
    }
    expect(await outcomeOf(appsOf(ann).revokeOAuth2Grant({ clientId: "client_unknown" }))).toBe(
      "NotFound: grant not found",
    );
    expect(await answers(token)).toEqual(["200"]);
  });

  describe("end with the app", () => {
    test("when it is deleted, with tokens, codes, secrets and the list", async () => {
      const of = await newApp(rig.service, ann);
      const token = await tokenOf(rig.service, bo, { of });
      const code = await codeFor(rig.service, bo, of, "secret");
      await appsOf(ann).deleteOAuth2App({ clientId: token.clientId });
      expect(await answers(token)).toEqual([revoked]);
      // spec/decisions.md 30
      expect((await exchangeCode(rig.service, of, "secret", code)).body).toMatchObject({
        error: "invalid_grant",
      });
      expect((await refreshWith(rig.service, of, "pkce", token.refreshToken)).body).toMatchObject({
        error: "invalid_grant",
      });
      expect((await appsOf(bo).listOAuth2Grants({})).data.map(({ clientId }) => clientId)).not.toContain(
        token.clientId,
      );
      expect(await outcomeOf(appsOf(bo).revokeOAuth2Grant({ clientId: token.clientId }))).toBe(
        "NotFound: grant not found",
      );
    });

    test("when it is expanded, until the user consents again; a scope removed from the app is removed from its tokens", async () => {
      const { app, clientSecret } = await appsOf(ann).createOAuth2App({
        name: "Garden",
        redirectUris: ["https://app.example/cb"],
        scopeConfig: { scopes: ["create_task", "create_project"] },
      });
      const clientId = app?.clientId ?? "";
      const made = await rig.service.store.apps.find(clientId);
      if (!made) throw new Error("no app");
      const of = { app: made, secret: clientSecret };
      const set = (...scopes: string[]) => appsOf(ann).updateOAuth2App({ clientId, scopeConfig: { scopes } });
      const token = await tokenOf(rig.service, bo, { of, scopes: ["create_task", "create_project"] });
      const code = await codeFor(rig.service, bo, of, "pkce");
      await set("create_task");
      expect(await answers(token)).toEqual(["200"]);
      const shown = (await appsOf(bo).listOAuth2Grants({})).data.find((grant) => grant.clientId === clientId);
      expect(shown?.scopes).toEqual(["create_task"]);
      const body = (await token.v2("project.list")).body;
      expect(body.error?.message).toBe(
        "insufficient_scope: required one of [create_project, manage_all_tasks]",
      );
      await set("create_task", "create_project");
      expect(await answers(token)).toEqual([expanded]);
      const isExpanded = async () =>
        (await appsOf(bo).listOAuth2Grants({})).data.find((grant) => grant.clientId === clientId)?.expanded;
      expect(await isExpanded()).toBe(true);
      expect((await exchangeCode(rig.service, of, "pkce", code)).body).toMatchObject({
        error: "invalid_grant",
      });
      expect((await refreshWith(rig.service, of, "pkce", token.refreshToken)).body).toMatchObject({
        error: "invalid_grant",
      });
      const secondTokens = await tokenOf(rig.service, bo, { of, scopes: ["create_task", "create_project"] });
      expect(await answers(secondTokens)).toEqual(["200"]);
      expect(await isExpanded()).toBe(false);
    });

    test("only then: a new name, another redirect URI or a revoked secret do not affect tokens", async () => {
      const of = await newApp(rig.service, ann);
      const token = await tokenOf(rig.service, bo, { of });
      const { clientId } = token;
      await appsOf(ann).updateOAuth2App({ clientId, name: "Orchard", redirectUris: ["myapp://cb"] });
      const { data } = await appsOf(ann).listOAuth2AppSecrets({ clientId });
      await appsOf(ann).revokeOAuth2AppSecret({ clientId, secretId: data[0]?.id ?? "" });
      expect(await answers(token)).toEqual(["200"]);
      const code = await codeFor(rig.service, bo, of, "secret");
      expect((await exchangeCode(rig.service, of, "secret", code)).body).toMatchObject({
        error: "invalid_client",
      });
    });
  });
});
