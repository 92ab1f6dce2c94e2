import { beforeAll, describe, expect } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { BudgetKind, BudgetPeriod } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import {
  answerIn,
  authorizePath,
  createSignedInVisitor,
  createVisitor,
  decline,
  type Visitor,
} from "../console/consent-rig.ts";
import { patchOf, scimOf } from "../scim/scim-rig.ts";
import { outcomeOf } from "../settings/settings-rig.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { type Members, postForm, userMe } from "../support/oauth.ts";
import { sampledTest } from "../support/sampled.ts";
import type { Person } from "../support/service.ts";
import { type Member, type Team, teamsRig } from "../teams/teams-rig.ts";
import {
  allowIn,
  approveIn,
  callback,
  callingAs,
  cliRequest,
  codeIn,
  ended,
  exchange,
  logIn,
  refresh,
  uses,
} from "./cli-rig.ts";

const test = sampledTest(3);

const choices = (text: string): Record<string, boolean> =>
  Object.fromEntries(
    [...text.matchAll(/name="space" value="([^"]*)" required( checked)?>/g)].map(([, id = "", on]) => [
      id,
      Boolean(on),
    ]),
  );

describeOnOne("the client of the command line", (database) => {
  const rig = teamsRig(database);
  let team: Team;
  let lea: Member;
  /** Lea's personal space. */
  let home: Person;
  let browser: Visitor;
  let stranger: Person;
  beforeAll(async () => {
    team = await rig.team();
    lea = await rig.member(team);
    home = await rig.person({ as: lea, personal: true });
    browser = await createSignedInVisitor(rig.service.url, lea);
    stranger = await rig.person();
  });
  const grants = () =>
    rowsIn(
      rig.db.url,
      `SELECT * FROM oauth_grant WHERE client_id = 'atp-cli' AND account_id = '${lea.accountId}'`,
    );
  const codes = async () =>
    (await rowsIn(rig.db.url, "SELECT digest FROM oauth_code WHERE client_id = 'atp-cli'")).length;

  describe("the page", () => {
    test("says that a program asks, and offers the spaces of the person, that of the session first", async () => {
      const { text, headers } = await browser.get(cliRequest());
      expect(text).toContain("<h1>Sign in the command line?</h1>");
      expect(text).toContain("A program on this computer");
      expect(text).toContain("create tasks for you");
      expect(text).toContain("<dd>127.0.0.1:4711, this computer</dd>");
      expect(choices(text)).toEqual({ [lea.spaceId]: true, [home.spaceId]: false });
      expect(headers.get("content-security-policy")).toContain("form-action 'self' http://127.0.0.1:4711;");
      expect(
        choices((await (await createSignedInVisitor(rig.service.url, home)).get(cliRequest())).text),
      ).toEqual({
        [lea.spaceId]: false,
        [home.spaceId]: true,
      });
    });

    test("is shown as a whole at every login, also after a grant", async () => {
      await codeIn(browser, lea.spaceId);
      expect((await browser.get(cliRequest())).text).toContain("<h1>Sign in the command line?</h1>");
    });

    test("leads to sign-in, which offers no request to the owner of a team", async () => {
      const visitor = createVisitor(rig.service.url, "");
      const { location } = await visitor.get(cliRequest());
      expect(location).toContain("/sign-in?next=");
      expect((await visitor.get(location)).text).toContain("Ask your administrator for a sign-in link.");
      expect((await visitor.get(location.replace("/sign-in?", "/sign-in/ask?"))).location).toBe("/sign-in");
    });

    test("leaves out a team in which the profile is delegated or inactive", async () => {
      const ivo = await rig.member(team);
      const own = await rig.person({ as: ivo, personal: true });
      const page = () =>
        createSignedInVisitor(rig.service.url, own).then((visitor) => visitor.get(cliRequest()));
      expect(Object.keys(choices((await page()).text))).toHaveLength(2);
      await rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_INACTIVE" });
      expect(choices((await page()).text)).toEqual({ [own.spaceId]: true });
    });

    test("returns access_denied to the command line when the person declines", async () => {
      const answer = await browser.send(await browser.get(cliRequest()), authorizePath, decline);
      expect(answerIn(answer, callback)).toMatchObject({ error: "access_denied" });
    });
  });

  describe("tokens act in the chosen space", () => {
    test.each(["team", "personal"] as const)("%s", async (kind) => {
      const spaceId = kind === "team" ? lea.spaceId : home.spaceId;
      const tokens = await logIn(rig.service, lea, spaceId);
      const cli = callingAs(rig.service, tokens);
      expect((await cli.v2("user.me")).body).toMatchObject({
        user_id: lea.accountId,
        space: { id: spaceId },
        credential_kind: "token",
      });
      const { body } = await cli.v2("task.create", { message: { content: "Hello" } });
      const [row] = await rowsIn(rig.db.url, `SELECT * FROM task WHERE id = '${body["task_id"]}'`);
      expect(row).toMatchObject({ space_id: spaceId, account_id: lea.accountId, client_id: "atp-cli" });
      const owner = kind === "team" ? lea : home;
      const seen = await owner.v2("task.detail", { task_id: body["task_id"] });
      expect(seen.body["task"].created_by_app).toEqual({ client_id: "atp-cli", name: "Command line" });
      expect(await uses(rig.service, tokens)).toEqual(["200", "ok", "200"]);
    });

    test("of one account in two spaces are apart, with one grant for each", async () => {
      const [one, two] = [await logIn(rig.service, lea), await logIn(rig.service, lea, home.spaceId)];
      const { body } = await callingAs(rig.service, one).v2("task.create", { message: { content: "Hello" } });
      expect((await callingAs(rig.service, two).v2("task.detail", { task_id: body["task_id"] })).status).toBe(
        404,
      );
      expect(
        (await grants())
          .filter((row) => row["revoked_at"] === null)
          .map((row) => row["space_id"])
          .toSorted(),
      ).toEqual([lea.spaceId, home.spaceId].toSorted());
    });

    test("and not in the one that a token request names", async () => {
      const { body } = await exchange(rig.service, await codeIn(browser, home.spaceId), {
        space: lea.spaceId,
        space_id: lea.spaceId,
      });
      expect((await userMe(rig.service.url, body.access_token)).body.space.id).toBe(home.spaceId);
    });

    test("are refused by operations that take a key only", async () => {
      const cli = callingAs(rig.service, await logIn(rig.service, lea));
      expect((await cli.v2("webhook.list")).body.error?.message).toBe(
        "insufficient_scope: this operation accepts an API key only",
      );
    });
  });

  describe("requests of imitators get a page with 400, and no redirect", () => {
    test.each([
      "http://localhost:4711/callback",
      "https://127.0.0.1:4711/callback",
      "http://127.0.0.2:4711/callback",
      "http://evil.example:4711/callback",
      "http://127.0.0.1.evil.example:4711/callback",
      "http://127.0.0.1:4711@evil.example/callback",
      "http://user@127.0.0.1:4711/callback",
      "http://127.0.0.1:4711/callback#x",
      "http://127.0.0.1:4711/callback?x=1",
      "http://127.0.0.1:4711/callback/",
      "http://127.0.0.1:4711/other",
      "http://127.0.0.1:4711/",
      "http://127.0.0.1:0/callback",
      "http://127.0.0.1:65536/callback",
      "http://127.0.0.1:47 11/callback",
      "http://[::2]:4711/callback",
      "http://0x7f.1:4711/callback",
      "atp://callback",
      undefined,
    ])("to %s", async (redirectUri) => {
      const page = await browser.get(cliRequest({ redirect_uri: redirectUri }));
      expect([page.status, page.location]).toEqual([400, ""]);
    });

    test.each([
      "http://127.0.0.1:1/callback",
      "http://127.0.0.1:65535/callback",
      "http://[::1]:4711/callback",
    ])("but %s is asked", async (redirectUri) => {
      expect((await browser.get(cliRequest({ redirect_uri: redirectUri }))).status).toBe(200);
    });
  });

  test.each<{ readonly what: string; readonly members: Members; readonly error: string }>([
    {
      what: "no challenge",
      members: { code_challenge: undefined, code_challenge_method: undefined },
      error: "invalid_request",
    },
    { what: "the method plain", members: { code_challenge_method: "plain" }, error: "invalid_request" },
    { what: "no method", members: { code_challenge_method: undefined }, error: "invalid_request" },
    { what: "a short challenge", members: { code_challenge: "short" }, error: "invalid_request" },
    {
      what: "a scope that it does not have",
      members: { scope: "create_task use_connectors" },
      error: "invalid_scope",
    },
  ])("a request with $what is refused with $error", async ({ members, error }) => {
    expect(answerIn(await browser.get(cliRequest(members)), callback)["error"]).toBe(error);
  });

  describe("the form", () => {
    test.each([
      ["of a stranger", () => stranger.spaceId],
      ["that is empty", () => ""],
      ["that does not exist", () => "nowhere"],
    ])("with a space %s is shown again, and gives no code", async (_which, spaceId) => {
      const before = await codes();
      const { status, text, location } = await approveIn(browser, spaceId());
      expect([status, location]).toEqual([200, ""]);
      expect(text).toContain("Please check it again");
      expect(await codes()).toBe(before);
    });

    test("without its token, or from another site, is refused", async () => {
      const before = await codes();
      const page = await browser.get(cliRequest());
      const forged = {
        ...page,
        text: page.text.replace(/name="csrf" value="[^"]*"/, 'name="csrf" value="x"'),
      };
      expect(forged.text).not.toBe(page.text);
      expect((await browser.send(forged, authorizePath, allowIn(lea.spaceId))).status).toBe(403);
      const fromElsewhere = await browser.send(page, authorizePath, allowIn(lea.spaceId), {
        origin: "https://evil.example",
      });
      expect(fromElsewhere.status).toBe(403);
      expect(await codes()).toBe(before);
    });

    test("sent to another account's session gives nothing there", async () => {
      const page = await browser.get(cliRequest());
      const other = await createSignedInVisitor(rig.service.url, stranger);
      expect((await other.send(page, authorizePath, allowIn(stranger.spaceId))).status).toBe(403);
    });

    test("gives one code, also when it is sent with several spaces at once", async () => {
      const before = await codes();
      const page = await browser.get(cliRequest());
      const sent = [lea.spaceId, home.spaceId, lea.spaceId, home.spaceId].map((id) =>
        browser.send(page, authorizePath, allowIn(id)),
      );
      const answers = await Promise.all(sent);
      expect(await codes()).toBe(before + 1);
      const redirects = answers
        .filter(({ status }) => status === 303)
        .map((answer) => answerIn(answer, callback)["code"]);
      expect([new Set(redirects).size, answers.filter(({ status }) => status === 409).length]).toEqual([
        1, 2,
      ]);
    });
  });

  describe("the token endpoint", () => {
    test("takes a code once, and ends its tokens when it is used again with another verifier", async () => {
      const code = await codeIn(browser, lea.spaceId);
      const { body } = await exchange(rig.service, code);
      expect((await exchange(rig.service, code, { code_verifier: "a".repeat(43) })).body.error).toBe(
        "invalid_grant",
      );
      expect((await userMe(rig.service.url, body.access_token)).status).toBe(401);
    });

    test.each<{ readonly what: string; readonly members: Members; readonly error: string }>([
      { what: "another verifier", members: { code_verifier: "a".repeat(43) }, error: "invalid_grant" },
      { what: "no verifier", members: { code_verifier: undefined }, error: "invalid_request" },
      {
        what: "another port",
        members: { redirect_uri: "http://127.0.0.1:4712/callback" },
        error: "invalid_grant",
      },
      { what: "a secret", members: { client_secret: "secret_x" }, error: "invalid_client" },
      { what: "the id of another client", members: { client_id: "client_none" }, error: "invalid_client" },
    ])("refuses $what with $error, and the code stays good", async ({ members, error }) => {
      const code = await codeIn(browser, lea.spaceId);
      expect((await exchange(rig.service, code, members)).body.error).toBe(error);
      expect((await exchange(rig.service, code)).status).toBe(200);
    });

    test("rotates refresh tokens; the use of a replaced one ends the family", async () => {
      const first = await logIn(rig.service, lea);
      const { body: second } = await refresh(rig.service, first.refresh);
      const { body: third } = await refresh(rig.service, second.refresh_token);
      expect((await refresh(rig.service, first.refresh)).body.error).toBe("invalid_grant");
      expect((await userMe(rig.service.url, third.access_token)).status).toBe(401);
    });

    test("answers one of two refreshes at once, and the family lives on", async () => {
      const first = await logIn(rig.service, lea);
      const both = await Promise.all([
        refresh(rig.service, first.refresh),
        refresh(rig.service, first.refresh),
      ]);
      const won = both.filter(({ status }) => status === 200);
      expect(won).toHaveLength(1);
      expect((await userMe(rig.service.url, won[0]?.body.access_token)).status).toBe(200);
    });

    test("does not show whether a token is valid: introspection needs a secret", async () => {
      const { access } = await logIn(rig.service, lea);
      expect(
        (await postForm(rig.service.url, "/oauth/introspect", { client_id: "atp-cli", token: access }))
          .status,
      ).toBe(401);
    });

    test("refuses a code when the membership ended after the consent", async () => {
      const ivo = await rig.member(team);
      const code = await codeIn(await createSignedInVisitor(rig.service.url, ivo), ivo.spaceId);
      await rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_INACTIVE" });
      expect((await exchange(rig.service, code)).body.error).toBe("invalid_grant");
    });
  });

  describe("the tokens end at the next call, and those in another space stay, when", () => {
    const endings: Readonly<
      Record<string, (ivo: Member, tokens: Awaited<ReturnType<typeof logIn>>) => Promise<unknown>>
    > = {
      "the person revokes the access": (ivo) =>
        ivo.client(OAuth2AppService).revokeOAuth2Grant({ clientId: "atp-cli" }),
      "the member is deactivated": (ivo) =>
        rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_INACTIVE" }),
      "the member is removed": async (ivo) => {
        await rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_INACTIVE" });
        await rig.ok(team, "remove", { team_user_id: ivo.id });
      },
      "a provider deactivates the member by SCIM": async (ivo) => {
        const off = patchOf({ op: "replace", path: "active", value: false });
        expect((await scimOf(rig.service, team.management)(`PATCH /Users/${ivo.id}`, off)).status).toBe(200);
      },
      "a provider deletes the member by SCIM": async (ivo) => {
        expect((await scimOf(rig.service, team.management)(`DELETE /Users/${ivo.id}`)).status).toBe(204);
      },
      "the profile is delegated": (ivo) => rig.delegateProfile(team, ivo.id, lea.id),
      "the command line revokes the refresh token": (_ivo, { refresh: token }) =>
        postForm(rig.service.url, "/oauth/revoke", { client_id: "atp-cli", token }),
    };
    test.each(Object.entries(endings))("%s", async (_when, end) => {
      const ivo = await rig.member(team);
      const own = await rig.person({ as: ivo, personal: true });
      const [here, there] = [await logIn(rig.service, ivo), await logIn(rig.service, ivo, own.spaceId)];
      await end(ivo, here);
      expect(await uses(rig.service, here)).toEqual(ended);
      expect(await uses(rig.service, there)).toEqual(["200", "ok", "200"]);
    });

    test("the person revokes the access to a personal space", async () => {
      const tokens = await logIn(rig.service, lea, home.spaceId);
      const apps = home.client(OAuth2AppService);
      expect((await apps.listOAuth2Grants({})).data.map(({ appName }) => appName)).toEqual(["Command line"]);
      await apps.revokeOAuth2Grant({ clientId: "atp-cli" });
      expect(await uses(rig.service, tokens)).toEqual(ended);
      expect((await apps.listOAuth2Grants({})).data).toEqual([]);
    });
  });

  describe("in a team", () => {
    test("it is an authorized app of the person, and no app of the team that a member can see or change", async () => {
      await logIn(rig.service, lea);
      expect((await lea.client(OAuth2AppService).listOAuth2Grants({})).data).toMatchObject([
        { clientId: "atp-cli", appName: "Command line" },
      ]);
      const apps = team.owner.client(OAuth2AppService);
      const of = { clientId: "atp-cli" };
      expect((await apps.listOAuth2Apps({})).data.map(({ clientId }) => clientId)).not.toContain("atp-cli");
      const calls = [
        ...[apps.getOAuth2App(of), apps.updateOAuth2App({ ...of, name: "Mine" }), apps.deleteOAuth2App(of)],
        ...[
          apps.createOAuth2AppSecret(of),
          apps.listOAuth2AppSecrets(of),
          apps.revokeOAuth2AppSecret({ ...of, secretId: "x" }),
        ],
        apps.listOAuth2AppUsers(of),
      ];
      const outcomes = await Promise.all(calls.map(outcomeOf));
      expect(new Set(outcomes)).toEqual(new Set(["NotFound: app not found"]));
      expect(await rowsIn(rig.db.url, "SELECT * FROM oauth_secret WHERE client_id = 'atp-cli'")).toEqual([]);
    });

    test("its log says who let it act, with which scopes, and when it got tokens", async () => {
      const ivo = await rig.member(team);
      await logIn(rig.service, ivo);
      const rows = await rowsIn(
        rig.db.url,
        `SELECT * FROM audit_event WHERE space_id = '${ivo.spaceId}' AND account_id = '${ivo.accountId}' ORDER BY at, id`,
      );
      const facts = rows.map(({ operation, credential }) => [
        operation,
        String(credential).replace(/^session:.*/, "session"),
      ]);
      expect(facts).toEqual(
        expect.arrayContaining([
          ["console/AuthorizeApp", "session"],
          ["oauth/token", "app:atp-cli"],
        ]),
      );
      const granted = rows.find(({ operation }) => operation === "console/AuthorizeApp");
      expect(JSON.parse(String(granted?.["after"]))).toMatchObject({
        clientId: "atp-cli",
        scopes: expect.arrayContaining(["create_task"]),
      });
      const mentioned = await rig.service.store.auditLog.names(ivo.spaceId, ["atp-cli"]);
      expect(mentioned).toEqual([{ kind: "app", id: "atp-cli", name: "Command line" }]);
    });

    test("a budget can limit it", async () => {
      const budgets = team.owner.client(BudgetService);
      const made = await outcomeOf(
        budgets.setBudget({
          kind: BudgetKind.APP,
          subject: "atp-cli",
          period: BudgetPeriod.MONTH,
          credits: 5n,
        }),
      );
      expect(made).toBe("let in");
    });
  });
});
