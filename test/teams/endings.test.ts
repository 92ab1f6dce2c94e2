import { expect, test } from "vitest";
import { systemRandom } from "../../src/core/ids.ts";
import { createLink, linkDigest } from "../../src/core/sign-in/link.ts";
import { ApiKeyService } from "../../src/gen/proto/settings/v1/api_key_service_pb.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { codeFor, exchangeCode, refreshWith, type TestApp } from "../support/oauth.ts";
import { quarterPast, stillClock } from "../support/still-clock.ts";
import { newApp, tokenOf } from "../support/token.ts";
import { eventsFor, putWebhook } from "../support/webhooks.ts";
import { putDelivery, stateOf } from "../webhooks/deliveries.ts";
import { type Member, teamsRig } from "./teams-rig.ts";

const inactive = { status: "USER_STATUS_INACTIVE" };
const all = {
  key: true,
  session: true,
  token: true,
  refresh: true,
  code: true,
  link: true,
  webhook: true,
  running: true,
};
type Working = { readonly [K in keyof typeof all]: boolean };
const none: Working = {
  key: false,
  session: false,
  token: false,
  refresh: false,
  code: false,
  link: false,
  webhook: false,
  running: false,
};

describeOnOne("the end of a membership", (database) => {
  const rig = teamsRig(database, { clock: stillClock() });

  /** Everything that a member can have, with a check whether each part still works. */
  async function addEverything(member: Member, app: TestApp) {
    const { service, db } = rig;
    const session = await member.session();
    const token = await tokenOf(service, member, { of: app, now: quarterPast });
    const code = await codeFor(service, member, app, "pkce", quarterPast);
    const link = await service.store.change((tx) =>
      createLink(tx, { now: quarterPast, random: systemRandom }, member),
    );
    const webhook = await putWebhook(service.store, { accountId: member.accountId, spaceId: member.spaceId });
    const { body } = await member.v2("task.create", { message: { content: "[[forever]]" } });
    const taskId = String(body["task_id"]);
    const ok = async (call: Promise<{ status: number }>) => (await call).status === 200;
    const delivery = await putDelivery(service.store, { webhookId: webhook });
    return {
      taskId,
      /** Checks the results of an exchange and a refresh too. */
      async alive(): Promise<Working> {
        // A refresh ends the access token, so the token is checked first.
        const opens = await ok(token.v2("user.me"));
        const exchanged = await exchangeCode(service, app, "pkce", code);
        const refreshed = await refreshWith(service, app, "pkce", token.refreshToken);
        return {
          key: await ok(member.v2("user.me")),
          session: await session
            .client(ApiKeyService)
            .listApiKeys({})
            .then(
              () => true,
              () => false,
            ),
          token: opens,
          refresh: refreshed.status === 200,
          code: exchanged.status === 200,
          link: (await service.store.links.findOpen(linkDigest(link), quarterPast)) !== null,
          webhook: (await service.store.webhooks.list(member)).length > 0,
          running: (await service.store.tasks.byId(taskId))?.status === "running",
        };
      },
      places: () => service.store.signIns.listSpaces(member.accountId),
      grants: () => service.store.grants.list(member.accountId, member.spaceId),
      delivered: () => stateOf(db.url, delivery.id),
    };
  }

  const membersWith = async () => {
    const team = await rig.team();
    const app = await newApp(rig.service, team.owner);
    const lea = await rig.member(team);
    const ivo = await rig.member(team);
    return {
      team,
      app,
      lea,
      ivo,
      ofLea: await addEverything(lea, app),
      ofIvo: await addEverything(ivo, app),
    };
  };

  test("active: everything works", async () => {
    const { ofLea } = await membersWith();
    expect(await ofLea.alive()).toEqual(all);
  });

  test("deactivated: sessions, tokens and codes end permanently, running tasks stop, and keys work again after reactivation (spec/decisions.md 6)", async () => {
    const { team, lea, ofLea, ofIvo } = await membersWith();
    await rig.ok(team, "update", { team_user_id: lea.id, ...inactive });
    expect(
      (await rig.auditRow("team.v2.TeamUserManagementApiV2Service/UpdateUser", lea.id))["after"],
    ).toContain('"tasks":1');
    expect(await ofLea.alive()).toEqual({ ...none, link: true, webhook: true });
    expect(await ofLea.places()).toEqual([]);
    await rig.ok(team, "update", { team_user_id: lea.id, status: "USER_STATUS_ACTIVE" });
    expect(await ofLea.alive()).toEqual({ ...none, key: true, link: true, webhook: true });
    expect(await ofLea.grants()).toHaveLength(1);
    expect(await ofIvo.alive()).toEqual(all);
  });

  test("delegated: keys, grants and links end too, permanently, for every role of the profile (spec/decisions.md 6)", async () => {
    for (const role of ["MIGRATED_PROFILE_ROLE_MEMBER", "MIGRATED_PROFILE_ROLE_DEACTIVATED"]) {
      const { team, lea, ivo, ofLea, ofIvo } = await membersWith();
      await rig.delegateProfile(team, lea.id, ivo.id, role);
      expect(await ofLea.alive()).toEqual({ ...none, webhook: true });
      await rig.ok(team, "update", { team_user_id: lea.id, status: "USER_STATUS_ACTIVE" });
      expect(await ofLea.alive()).toEqual({ ...none, webhook: true });
      expect(await ofLea.places()).toEqual([]);
      // A key or a session created outside the API grants no access either.
      const self = { accountId: lea.accountId, spaceId: lea.spaceId };
      const late = await rig.service.person({ as: self, with: self });
      expect((await late.v2("user.me")).status).toBe(401);
      await expect((await late.session()).client(ApiKeyService).listApiKeys({})).rejects.toThrow(
        "missing authentication",
      );
      // The holder has no access to the member's task.
      expect((await ivo.v2("task.detail", { task_id: ofLea.taskId })).status).toBe(404);
      await rig.ok(team, "reclaim", { team_user_id: lea.id });
      await rig.ok(team, "update", { team_user_id: lea.id, status: "USER_STATUS_ACTIVE" });
      expect(await ofLea.alive()).toEqual({ ...none, webhook: true });
      expect(await ofLea.grants()).toEqual([]);
      expect(await ofLea.places()).toHaveLength(1);
      expect(await ofIvo.alive()).toEqual(all);
    }
  });

  test("removed: everything ends permanently, including webhooks and their deliveries, and the tasks stay (spec/decisions.md 5)", async () => {
    const { team, lea, ofLea, ofIvo } = await membersWith();
    await rig.ok(team, "remove", { team_user_id: lea.id });
    expect(await ofLea.alive()).toEqual(none);
    expect(await ofLea.delivered()).toMatchObject({ state: "cancelled" });
    expect(await rowsIn(rig.db.url, `SELECT status FROM task WHERE id = '${ofLea.taskId}'`)).toEqual([
      { status: "stopped" },
    ]);
    const [tombstone] = await rowsIn(
      rig.db.url,
      `SELECT account_id, email, role, status FROM membership WHERE id = '${lea.id}'`,
    );
    expect(tombstone).toEqual({
      account_id: lea.accountId,
      email: lea.email,
      role: "member",
      status: "removed",
    });
    expect(await ofIvo.alive()).toEqual(all);
  });

  test("stopped tasks end as with task.stop: with its events, and a delivery to every subscribed webhook", async () => {
    const team = await rig.team();
    const lea = await rig.member(team);
    const app = await newApp(rig.service, team.owner);
    await tokenOf(rig.service, lea, { of: app, now: quarterPast });
    const { accountId, spaceId } = team.owner;
    const hook = await putWebhook(rig.service.store, {
      accountId,
      spaceId,
      clientId: app.app.clientId,
      eventTypes: ["task_cancelled"],
    });
    const token = await tokenOf(rig.service, lea, { of: app, now: quarterPast });
    const { body } = await token.v2("task.create", { message: { content: "[[forever]]" } });
    const taskId = String(body["task_id"]);
    await rig.ok(team, "update", { team_user_id: lea.id, ...inactive });
    const events = await rig.service.store.events.list(taskId, { order: "asc", limit: 9, verbose: true });
    expect(events.slice(-2).map(({ type }) => type)).toEqual(["user_stop", "status_update"]);
    expect(await eventsFor(rig.db, hook)).toMatchObject([{ type: "task_cancelled" }]);
  });

  test("an account with another membership stays, with everything it has there; an account without one is deleted", async () => {
    const [north, south] = [await rig.team(), await rig.team()];
    const lea = await rig.member(north);
    const { team_user_id } = await rig.add(south, { email: lea.email });
    const there = { accountId: lea.accountId, spaceId: south.owner.spaceId };
    const inOtherTeam = await rig.service.person({ as: there, with: there });
    const session = await inOtherTeam.session();
    const { body } = await inOtherTeam.v2("task.create", { message: { content: "[[forever]]" } });
    const account = () => rowsIn(rig.db.url, `SELECT id FROM account WHERE email = '${lea.email}'`);
    await rig.ok(north, "remove", { team_user_id: lea.id });
    expect(await account()).toEqual([{ id: lea.accountId }]);
    expect((await inOtherTeam.v2("user.me")).status).toBe(200);
    await session.client(ApiKeyService).listApiKeys({});
    expect((await rig.service.store.tasks.byId(String(body["task_id"])))?.status).toBe("running");
    await rig.ok(south, "remove", { team_user_id });
    expect(await account()).toEqual([]);
    // The tombstones stay, and the next user of the address is another account.
    const removedUser = await rowsIn(
      rig.db.url,
      `SELECT status FROM membership WHERE account_id = '${lea.accountId}'`,
    );
    expect(removedUser).toEqual([{ status: "removed" }, { status: "removed" }]);
    await rig.add(north, { email: lea.email });
    expect(await account()).not.toEqual([{ id: lea.accountId }]);
    const personal = await rig.service.person({ personal: true });
    const [{ email } = { email: "" }] = await rowsIn(
      rig.db.url,
      `SELECT email FROM account WHERE id = '${personal.accountId}'`,
    );
    const added = await rig.add(north, { email: String(email) });
    await rig.ok(north, "remove", { team_user_id: added.team_user_id });
    expect((await personal.v2("user.me")).status).toBe(200);
  });
});
