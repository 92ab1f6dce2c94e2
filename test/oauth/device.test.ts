import { beforeAll, expect, test } from "vitest";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import {
  allow,
  createSignedInVisitor,
  createVisitor,
  decline,
  type Visitor,
} from "../console/consent-rig.ts";
import type { PageResponse } from "../sign-in/browser.ts";
import { describeOnEach, rowsIn } from "../support/database.ts";
import {
  issuer,
  type Members,
  type OAuthReply,
  postForm,
  putApp,
  type TestApp,
  userMe,
} from "../support/oauth.ts";
import type { Person } from "../support/service.ts";
import { stillClock } from "../support/still-clock.ts";
import { type Member, type Team, teamsRig } from "../teams/teams-rig.ts";
import { allowIn, uses } from "./cli-rig.ts";

const grantType = "urn:ietf:params:oauth:grant-type:device_code";
const cli = { client_id: "atp-cli" };
const hourMs = 3_600_000;
const times = <T>(count: number, work: (n: number) => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, (_, n) => work(n)));

describeOnEach("device authorization (spec/api.md 8.113)", (database) => {
  const clock = stillClock(Date.now());
  const rig = teamsRig(database, { clock, idle: true, env: { TRUST_PROXY: "x-forwarded-for" } });
  let team: Team;
  let lea: Member;
  let home: Person;
  let browser: Visitor;
  let app: TestApp;
  beforeAll(async () => {
    team = await rig.team();
    lea = await rig.member(team);
    home = await rig.person({ as: lea, personal: true });
    browser = await createSignedInVisitor(rig.service.url, lea);
    app = await putApp(rig.service, team.owner, { deviceAuthorization: true, scopes: ["create_task"] });
  });

  let sender = 0;
  /** An address that no other test has used. */
  function newAddress() {
    sender += 1;
    return { "x-forwarded-for": `10.9.${Math.floor(sender / 250)}.${sender % 250}` };
  }
  const begin = (members: Members = cli, headers = newAddress()): Promise<OAuthReply> =>
    postForm(rig.service.url, "/oauth/device_authorization", members, { headers });
  const poll = (code: string, members: Members = cli): Promise<OAuthReply> =>
    postForm(
      rig.service.url,
      "/oauth/token",
      { grant_type: grantType, device_code: code, ...members },
      { headers: newAddress() },
    );
  const enter = async (code: string, who = browser, headers = newAddress()): Promise<PageResponse> =>
    who.send(await who.get("/device"), "/device", [["user_code", code]], headers);
  const approveBy = (page: PageResponse, who = browser) =>
    who.send(page, "/device/answer", allowIn(lea.spaceId));
  const audit = async (operation: string) =>
    (await rowsIn(rig.db.url, `SELECT * FROM audit_event WHERE operation = '${operation}' ORDER BY at`)).map(
      ({ after }) => String(after),
    );

  test("a person enters the code of a terminal, sees what asks, approves, and the terminal gets tokens once", async () => {
    const reply = await fetch(`${rig.service.url}/.well-known/oauth-authorization-server`);
    const metadata = (await reply.json()) as {
      device_authorization_endpoint: string;
      grant_types_supported: string[];
    };
    expect(metadata.device_authorization_endpoint).toBe(`${issuer}/oauth/device_authorization`);
    expect(metadata.grant_types_supported).toContain(grantType);
    const begun = await begin(cli, { "x-forwarded-for": "192.0.2.7" });
    expect([begun.status, begun.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const { device_code: code, user_code: typed } = begun.body;
    expect(begun.body).toEqual({
      device_code: expect.stringMatching(/^device_[A-Za-z0-9_-]{43}$/),
      user_code: expect.stringMatching(/^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/),
      verification_uri: expect.stringMatching(/\/device$/),
      verification_uri_complete: `${begun.body.verification_uri}?user_code=${typed}`,
      ...{ expires_in: 600, interval: 5 },
    });
    expect((await poll(code)).body.error).toBe("authorization_pending");
    clock.step(2_000);
    expect((await poll(code)).body.error).toBe("slow_down");
    clock.step(6_000);
    expect((await poll(code)).body.error, "the interval is 10 s now").toBe("slow_down");
    clock.step(15_000);
    expect((await poll(code)).body.error).toBe("authorization_pending");

    const link = await browser.get(`/device?user_code=${typed}`);
    expect(link.text).toContain(`value="${typed}"`);
    expect(link.text, "a link shows nothing and answers nothing").not.toContain("command line");
    const page = await enter(` ${typed.toLowerCase().replace("-", ". ")}`);
    expect(page.text).toContain("<h1>Connect the command line?</h1>");
    for (const shown of [typed, "192.0.2.7", "Part of this server", "create tasks for you", "UTC</time>"])
      expect(page.text).toContain(shown);
    expect(page.headers.get("content-security-policy")).toContain("form-action 'self';");

    expect((await browser.send(page, "/device/answer", allowIn(home.spaceId))).text).toContain(
      "The device is connected",
    );
    const issued = await poll(code);
    expect([issued.status, issued.body]).toEqual([
      200,
      {
        ...{
          access_token: expect.any(String),
          refresh_token: expect.any(String),
          token_type: "Bearer",
          expires_in: 86_400,
        },
        scope: "create_task manage_all_tasks create_project use_my_browsers",
      },
    ]);
    expect((await userMe(rig.service.url, issued.body.access_token)).body).toMatchObject({
      ...{ user_id: lea.accountId, space: { id: home.spaceId }, credential_kind: "token" },
    });
    expect((await postForm(rig.service.url, "/oauth/revoke", { ...cli, token: "refresh_x" })).status).toBe(
      200,
    );
    expect((await poll(code)).body.error, "its own race").toBe("invalid_grant");
    const tokens = { access: issued.body.access_token, refresh: issued.body.refresh_token };
    expect(await uses(rig.service, tokens)).toEqual(["200", "ok", "200"]);
    clock.step(3_000);
    expect((await poll(code)).body.error, "a replay").toBe("invalid_grant");
    expect((await userMe(rig.service.url, tokens.access)).status).toBe(401);
    expect((await audit("console/ApproveDevice")).at(-1)).toContain("atp-cli");
    expect((await audit("oauth/token")).slice(-3).join()).toMatch(/token_issued.*code_raced.*code_replayed/);
    expect(
      JSON.stringify(await rowsIn(rig.db.url, "SELECT digest, user_digest FROM oauth_device")),
    ).not.toContain(code);
  });

  test("a denied and an expired request give no tokens, and their codes are no longer valid", async () => {
    const { body } = await begin();
    const page = await enter(body.user_code);
    expect((await browser.send(page, "/device/answer", decline)).text).toContain("The request is denied");
    expect((await poll(body.device_code)).body.error).toBe("access_denied");
    expect((await approveBy(page)).status, "the same page again").toBe(409);
    expect((await enter(body.user_code)).text).toContain("This code is not valid");
    expect((await audit("console/DenyDevice")).at(-1)).toContain("10.9.");

    const late = (await begin()).body;
    const open = await enter(late.user_code);
    clock.step(600_000);
    expect((await poll(late.device_code)).body.error).toBe("expired_token");
    expect((await approveBy(open)).status).toBe(409);
    expect((await enter(late.user_code)).status).toBe(400);
    expect((await poll("device_unknown")).body.error).toBe("invalid_grant");
    expect(
      (await postForm(rig.service.url, "/oauth/token", { grant_type: grantType, ...cli })).body.error,
    ).toBe("invalid_request");
  });

  test("of many polls after an approval one gets tokens; of an approval and a denial at once one counts", async () => {
    const { body } = await begin();
    await approveBy(await enter(body.user_code));
    const replies = await times(10, () => poll(body.device_code));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(new Set(replies.filter(({ status }) => status !== 200).map((reply) => reply.body.error))).toEqual(
      new Set(["invalid_grant"]),
    );

    for (let round = 0; round < 4; round += 1) {
      clock.step(hourMs);
      const raced = (await begin()).body;
      const page = await enter(raced.user_code);
      const answers = await times(6, (n) =>
        n % 2 ? approveBy(page) : browser.send(page, "/device/answer", decline),
      );
      expect(answers.map(({ status }) => status).toSorted()).toEqual([200, 409, 409, 409, 409, 409]);
      const isApproved = answers.some(({ text }) => text.includes("is connected"));
      const result = await poll(raced.device_code);
      expect(result.body.error ?? result.status).toBe(isApproved ? 200 : "access_denied");
    }
  });

  test("a session has 5 wrong codes an hour, however many it sends at once, and an address 20; right codes do not count", async () => {
    clock.step(hourMs);
    const { body } = await begin();
    for (let n = 0; n < 7; n += 1) expect((await enter(body.user_code)).status).toBe(200);
    const page = await browser.get("/device");
    const sent = await times(12, () =>
      browser.send(page, "/device", [["user_code", "BBBB-BBBB"]], newAddress()),
    );
    expect(sent.map(({ status }) => status).toSorted()).toEqual([
      ...Array(5).fill(400),
      ...Array(7).fill(429),
    ]);
    const late = await enter(body.user_code);
    expect([late.status, late.text], "also the right one").toEqual([
      429,
      expect.stringMatching(/Try again in \d+ minutes|Wait a minute/),
    ]);
    expect((await enter("BCDF")).status).toBe(429);
    const other = await createSignedInVisitor(rig.service.url, lea);
    expect((await enter(body.user_code, other)).status).toBe(200);

    const from = newAddress();
    const sessions = await times(5, () => createSignedInVisitor(rig.service.url, lea));
    for (const each of sessions) await times(4, () => enter("nothing", each, from));
    expect((await enter(body.user_code, other, from)).status).toBe(429);
    expect((await enter(body.user_code, other)).status).toBe(200);
    clock.step(hourMs);
    expect((await enter("BBBB-BBBB")).status).toBe(400);
  });

  test("an app of a team asks only when its editors allow it, for its members, and with its secret if it has to", async () => {
    const third = await putApp(rig.service, team.owner, { scopes: ["create_task"] });
    const of = { client_id: third.app.clientId };
    expect((await begin(of)).body.error).toBe("unauthorized_client");
    const apps = team.owner.client(OAuth2AppService);
    const change = (members: object) => apps.updateOAuth2App({ clientId: third.app.clientId, ...members });
    expect((await change({ deviceAuthorization: true })).app?.deviceAuthorization).toBe(true);
    expect((await begin({ ...of, scope: "manage_all_tasks" })).body.error).toBe("invalid_scope");
    expect((await begin({ ...of, resource: "https://evil.example" })).body.error).toBe("invalid_target");
    expect((await begin({ ...of, client_secret: "secret_wrong" })).status).toBe(401);

    const { body } = await begin(of);
    expect((await poll(body.device_code, cli)).body.error, "of another client").toBe("invalid_grant");
    const stranger = await createSignedInVisitor(rig.service.url, await rig.person());
    expect((await enter(body.user_code, stranger)).status).toBe(403);
    const page = await enter(body.user_code);
    expect(page.text).toContain("Registered in");
    await approveBy(page);
    await change({ deviceAuthorization: false });
    expect((await poll(body.device_code, of)).body.error).toBe("invalid_grant");
    await change({ deviceAuthorization: true, confidentialOnly: true });
    expect((await begin(of)).status).toBe(401);
    expect((await poll(body.device_code, of)).status).toBe(401);
    expect((await poll(body.device_code, { ...of, client_secret: third.secret })).status).toBe(200);
  });

  test("an approval ends with the membership, and a page of an app that asks for more since is over", async () => {
    const of = { client_id: app.app.clientId };
    const ivo = await rig.member(team);
    const his = await createSignedInVisitor(rig.service.url, ivo);
    const first = (await begin(of)).body;
    await his.send(await enter(first.user_code, his), "/device/answer", allow);
    await rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_INACTIVE" });
    expect((await poll(first.device_code, of)).body.error).toBe("invalid_grant");
    await rig.ok(team, "update", { team_user_id: ivo.id, status: "USER_STATUS_ACTIVE" });
    expect((await poll(first.device_code, of)).body.error, "also when it is active again").toBe(
      "invalid_grant",
    );

    const second = (await begin(of)).body;
    const page = await enter(second.user_code);
    await team.owner.client(OAuth2AppService).updateOAuth2App({
      clientId: app.app.clientId,
      scopeConfig: { scopes: ["create_task", "create_project"] },
    });
    expect((await approveBy(page)).status).toBe(409);
    expect((await poll(second.device_code, of)).body.error).toBe("authorization_pending");
  });

  test("a form counts in the session in which it was shown, and only from this site", async () => {
    const { body } = await begin();
    const page = await enter(body.user_code);
    const other = await createSignedInVisitor(rig.service.url, lea);
    expect((await approveBy(page, other)).status).toBe(403);
    const own = await other.get("/device");
    const [token] = /name="csrf" value="[^"]*"/.exec(own.text) ?? [];
    const moved = { ...page, text: page.text.replace(/name="csrf" value="[^"]*"/, token ?? "") };
    expect((await approveBy(moved, other)).status, "the ticket names its session").toBe(409);
    expect(
      (await browser.send(page, "/device/answer", allow, { origin: "https://evil.example" })).status,
    ).toBe(403);
    expect((await browser.send(page, "/device/answer", allowIn("nowhere"))).status).toBe(403);
    const signedOut = await createVisitor(rig.service.url, "").get(`/device?user_code=${body.user_code}`);
    expect([signedOut.status, signedOut.location]).toEqual([303, expect.stringContaining("/sign-in?next=")]);
    expect(signedOut.location).toContain(encodeURIComponent(`user_code=${body.user_code}`));
    expect((await poll(body.device_code)).body.error).toBe("authorization_pending");
  });

  test("a client has 10 requests that wait from one address; expired ones do not count, and are deleted after a day", async () => {
    const from = newAddress();
    const replies = await times(14, () => begin(cli, from));
    expect(replies.map(({ status }) => status).toSorted()).toEqual([
      ...Array(10).fill(200),
      ...Array(4).fill(429),
    ]);
    expect((await begin({ client_id: app.app.clientId }, from)).status).toBe(200);
    expect((await begin()).status).toBe(200);
    clock.step(600_000);
    expect((await begin(cli, from)).status).toBe(200);
    const before = (await rowsIn(rig.db.url, "SELECT digest FROM oauth_device")).length;
    await rig.service.store.change((tx) => tx.devices.purge(clock.now()));
    expect((await rowsIn(rig.db.url, "SELECT digest FROM oauth_device")).length).toBeLessThan(before);
  });
});
