import { beforeAll, expect, test } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import { type Members, type OAuthReply, postForm, putApp, type TestApp, userMe } from "../support/oauth.ts";
import { callingWith, type Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type Member, type Team, teamsRig } from "../teams/teams-rig.ts";

const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describeOnEach("an app that acts as itself (spec/api.md 8.114)", (database) => {
  const clock = stillClock(Date.now());
  const rig = teamsRig(database, { clock });
  let team: Team;
  let lea: Member;
  /** Lea in her browser. */
  let signedIn: Pick<Person, "client">;
  beforeAll(async () => {
    team = await rig.team();
    lea = await rig.member(team);
    signedIn = await lea.session();
  });

  const newApp = (members: Parameters<typeof putApp>[2] = {}): Promise<TestApp> =>
    putApp(rig.service, lea, { scopes: ["create_task", "manage_all_tasks", "create_project"], ...members });
  const change = (of: TestApp, members: object, who: Pick<Person, "client"> = signedIn) =>
    who.client(OAuth2AppService).updateOAuth2App({ clientId: of.app.clientId, ...members });
  const ask = ({ app, secret }: TestApp, members: Members = {}): Promise<OAuthReply> =>
    postForm(rig.service.url, "/oauth/token", {
      ...{ grant_type: "client_credentials", client_id: app.clientId, client_secret: secret, ...members },
    });
  const calling = (token: string) => callingWith({ authorization: `Bearer ${token}` }, () => rig.service.url);
  const allowed = async (members: Parameters<typeof putApp>[2] = {}): Promise<TestApp> => {
    const of = await newApp(members);
    await change(of, { clientCredentials: true });
    return of;
  };

  test("gets a token with its secret when a signed-in editor allows it, for 15 minutes and without a refresh token", async () => {
    const of = await newApp();
    expect((await ask(of)).body.error).toBe("unauthorized_client");
    await expect(change(of, { clientCredentials: true }, lea), "a key cannot allow it").rejects.toThrow(
      "only a signed-in person",
    );
    const { app } = await change(of, { clientCredentials: true });
    expect([app?.clientCredentials, app?.clientCredentialsUserId]).toEqual([true, lea.accountId]);
    expect((await ask(of, { client_secret: undefined })).status).toBe(401);
    expect((await ask(of, { client_secret: "secret_wrong" })).status).toBe(401);
    expect((await ask(of, { scope: "manage_all_tasks" })).body.error).toBe("invalid_scope");
    expect((await ask(of, { resource: "https://evil.example" })).body.error).toBe("invalid_target");
    const issued = await ask(of);
    expect([issued.status, issued.body]).toEqual([
      200,
      { access_token: expect.any(String), token_type: "Bearer", expires_in: 900, scope: "create_task" },
    ]);
    const token = issued.body.access_token;
    expect((await userMe(rig.service.url, token)).body).toMatchObject({
      credential_kind: "token",
      scopes: ["create_task"],
    });
    const shown = await postForm(rig.service.url, "/oauth/introspect", {
      ...{ token, client_id: of.app.clientId, client_secret: of.secret },
    });
    expect(shown.body).toMatchObject({ active: true, scope: "create_task" });
    const mcp = (await ask(of, { resource: "https://platform.test/mcp" })).body.access_token;
    expect((await userMe(rig.service.url, mcp)).status, "for another resource").toBe(401);
    clock.step(900_000);
    expect((await userMe(rig.service.url, token)).status).toBe(401);
    const audit = await rowsIn(
      rig.db.url,
      `SELECT * FROM audit_event WHERE credential = 'app:${of.app.clientId}'`,
    );
    expect(audit.map(({ after }) => String(after))).toContain('{"event":"service_token_issued"}');
  });

  test("reaches only what it made, and cannot approve, invite, make keys or change apps", async () => {
    const of = await allowed();
    const app = calling((await ask(of)).body.access_token);
    const hers = await lea.v2("task.create", { message: { content: "mine" } });
    expect((await app.v2("task.detail", { task_id: hers.body["task_id"] })).status).toBe(404);
    const made = await app.v2("task.create", {
      message: { content: '[[approve {"kind":"terminalExecute"}]]' },
    });
    const { task } = (await lea.v2("task.detail", { task_id: made.body["task_id"] })).body;
    expect(task.created_by_app).toEqual({ client_id: of.app.clientId, name: of.app.name });
    const refused = await app.v2("task.confirmAction", {
      task_id: made.body["task_id"],
      event_id: "x",
      input: { accept: true },
    });
    expect([refused.status, refused.body.error?.message]).toEqual([
      403,
      expect.stringContaining("a person must decide"),
    ]);
    for (const name of ["team.user.create", "webhook.list", "project.list", "usage.list"])
      expect([401, 403, 404], name).toContain((await app.v2(name, {})).status);
    await expect(change(of, { name: "x" }, app)).rejects.toThrow("insufficient_scope");
  });

  test("loses its tokens at once when the permission, the app, the secret's owner or the membership ends", async () => {
    const live = async (of: TestApp) => (await ask(of)).body.access_token as string;
    const status = async (token: string) => (await userMe(rig.service.url, token)).status;

    const off = await allowed();
    const first = await live(off);
    await change(off, { clientCredentials: false });
    expect([await status(first), (await ask(off)).body.error]).toEqual([401, "unauthorized_client"]);
    await change(off, { clientCredentials: true });
    expect(await status(first), "also when it is allowed again").toBe(401);

    const deleted = await allowed();
    const second = await live(deleted);
    await signedIn.client(OAuth2AppService).deleteOAuth2App({ clientId: deleted.app.clientId });
    expect([await status(second), (await ask(deleted)).body.error]).toEqual([401, "unauthorized_client"]);

    const ivo = await rig.member(team);
    const his = await putApp(rig.service, ivo, { scopes: ["create_task"] });
    await change(his, { clientCredentials: true }, await ivo.session());
    const third = await live(his);
    await rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_INACTIVE" });
    expect([await status(third), (await ask(his)).body.error]).toEqual([401, "unauthorized_client"]);
    await rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_ACTIVE" });
    expect(await status(third)).toBe(401);
    expect((await ask(his)).status, "the permission stays with the profile").toBe(200);
    await rig.ok(team, "remove", { team_user_id: ivo.id });
    expect((await ask(his)).body.error).toBe("unauthorized_client");
    const [row] = await rowsIn(
      rig.db.url,
      `SELECT service_account_id FROM oauth_app WHERE client_id = '${his.app.clientId}'`,
    );
    expect(row).toEqual({ service_account_id: null });

    const revoked = await allowed();
    const fourth = await live(revoked);
    const { data } = await signedIn
      .client(OAuth2AppService)
      .listOAuth2AppSecrets({ clientId: revoked.app.clientId });
    await signedIn
      .client(OAuth2AppService)
      .revokeOAuth2AppSecret({ clientId: revoked.app.clientId, secretId: data[0]?.id ?? "" });
    expect((await ask(revoked)).status).toBe(401);
    await change(revoked, { clientCredentials: false });
    expect(await status(fourth)).toBe(401);
  });

  test("no token stays valid after the permission has ended, however many are requested at the same time", async () => {
    for (let round = 0; round < 4; round += 1) {
      const of = await allowed();
      const [replies] = await Promise.all([
        times(6, () => ask(of)),
        change(of, { clientCredentials: false }),
      ]);
      const tokens = replies
        .filter(({ status }) => status === 200)
        .map(({ body }) => body.access_token as string);
      for (const token of tokens) expect((await userMe(rig.service.url, token)).status).toBe(401);
    }
  });
});
