import { expect, test } from "vitest";
import type { Role } from "../../src/core/accounts/account.ts";
import { TeamService } from "../../src/gen/proto/settings/v1/team_service_pb.ts";
import { outcomeOf } from "../settings/settings-rig.ts";
import { sampleWebhook } from "../store/samples.ts";
import { describeOnOne, rowsIn } from "../support/database.ts";
import { openMailServer } from "../support/mail-server.ts";
import { openService } from "../support/service.ts";
import { type Team, teamsRig } from "./teams-rig.ts";

// spec/enterprise.md 5.10
describeOnOne("a team's directory", (database) => {
  const rig = teamsRig(database);
  const of = async (team: Team, role: Role) =>
    (await (await rig.member(team, role)).session()).client(TeamService);
  const ownerOf = async (team: Team) => (await team.owner.session()).client(TeamService);

  test("shows names to every member, and addresses to the owner and super admins", async () => {
    const team = await rig.team();
    const { team_user_id, email } = await rig.add(team, { user_name: "Zoë Marten" });
    const gone = await rig.add(team, { user_name: "Zoë Gone" });
    await rig.ok(team, "update", { team_user_id: gone.team_user_id, status: "USER_STATUS_INACTIVE" });
    const found = async (role: Role, query: string) =>
      (await (await of(team, role)).listMembers({ query })).data;
    for (const role of ["guest", "member", "admin"] as const) {
      const [zoe, ...more] = await found(role, "MARTEN");
      expect([zoe?.teamUserId, zoe?.name, zoe?.email, more.length]).toEqual([
        team_user_id,
        "Zoë Marten",
        undefined,
        0,
      ]);
      expect(await found(role, email)).toEqual([]);
    }
    expect((await found("super_admin", email)).map((person) => [person.name, person.email])).toEqual([
      ["Zoë Marten", email],
    ]);
    expect((await found("member", "Zoë")).map(({ name }) => name)).toEqual(["Zoë Marten"]);
    expect(await found("member", "%")).toEqual([]);
  });

  test("has pages with every person once, and no person of another team", async () => {
    const [team, other] = [await rig.team(), await rig.team()];
    await rig.add(other, { user_name: "Ann" });
    for (const user_name of ["Cy", "Ann", "Bo"]) await rig.add(team, { user_name });
    const owner = await ownerOf(team);
    const pages = await Promise.all([0, 2, 4].map((offset) => owner.listMembers({ limit: 2, offset })));
    expect(pages.map(({ total, data }) => [total, data.length])).toEqual([
      [4, 2],
      [4, 2],
      [4, 0],
    ]);
    const names = pages.flatMap(({ data }) => data.flatMap(({ name }) => name ?? []));
    expect(names.filter((name) => ["Ann", "Bo", "Cy"].includes(name))).toEqual(["Ann", "Bo", "Cy"]);
  });

  test("is renamed by the owner, to a name that no other team has", async () => {
    const [team, other] = [await rig.team(), await rig.team()];
    const name = `Garden ${team.owner.spaceId}`;
    const owner = await ownerOf(team);
    expect((await owner.renameTeam({ name })).name).toBe(name);
    expect((await team.owner.v2("user.me")).body["space"]).toMatchObject({ name });
    expect(await outcomeOf((await ownerOf(other)).renameTeam({ name }))).toBe(
      "AlreadyExists: name: is already used by a team",
    );
    expect(await outcomeOf(owner.renameTeam({ name: " x" }))).toMatch(/^InvalidArgument: name/);
    expect(await outcomeOf((await of(team, "super_admin")).renameTeam({ name: "x" }))).toMatch(
      /^PermissionDenied/,
    );
  });

  test("of two teams that take a name at the same time, one has it", async () => {
    const teams = await Promise.all([rig.team(), rig.team()].map(async (team) => ownerOf(await team)));
    const outcomes = await Promise.all(
      teams.map((team) => outcomeOf(team.renameTeam({ name: `Race ${database}` }))),
    );
    expect(outcomes.toSorted()).toEqual(["AlreadyExists: name: is already used by a team", "let in"]);
  });

  test("a dry run shows what would end, and writes nothing", async () => {
    const team = await rig.team();
    const member = await rig.member(team);
    const held = await rig.add(team);
    await rig.delegateProfile(team, held.team_user_id, member.id);
    await member.session();
    const { accountId, spaceId } = member;
    await rig.service.store.change((tx) =>
      tx.webhooks.insert({ ...sampleWebhook(), id: member.id, accountId, spaceId }),
    );
    await member.v2("task.create", { message: { content: "Say hello" } });
    const dump = async () =>
      JSON.stringify([
        // Refusals are written later, and rows are sealed later.
        await rowsIn(
          rig.db.url,
          "SELECT id, before, after FROM audit_event WHERE outcome = 'done' ORDER BY id",
        ),
        await rowsIn(rig.db.url, "SELECT * FROM membership ORDER BY id"),
      ]);
    const admin = await rig.member(team, "super_admin");
    const before = await dump();
    const id = { team_user_id: member.id, dry_run: true };
    const removed = await rig.ok(team, "remove", id);
    expect(removed).toMatchObject({
      user: { status: "USER_STATUS_REMOVED" },
      cascade_affected: [{ team_user_id: held.team_user_id }],
      effects: { sessions: 1, keys: 1, webhooks: 1, running_tasks: 1 },
    });
    expect(await rig.ok(team, "update", { ...id, status: "USER_STATUS_INACTIVE" })).toMatchObject({
      effects: { sessions: 1, keys: 0, webhooks: 0, running_tasks: 1 },
    });
    expect(await rig.ok(team, "update", { ...id, role: "TEAM_MEMBER_ROLE_GUEST" })).not.toHaveProperty(
      "effects",
    );
    const refused = await team.management.v2("team.user.remove", {
      team_user_id: team.ownerId,
      dry_run: true,
    });
    expect(refused).toMatchObject({ status: 412 });
    const raised = { ...id, role: "TEAM_MEMBER_ROLE_SUPER_ADMIN" };
    expect(
      await admin.v2("team.user.update", raised),
      "a dry run has the refusals of the change",
    ).toMatchObject({ status: 403 });
    expect(await dump()).toBe(before);
    expect(await rig.ok(team, "remove", { team_user_id: member.id })).not.toHaveProperty("effects");
  });
});

// spec/decisions.md 67
test("a renewed invitation is mailed to the address of the account, and ends earlier links", async () => {
  await using mails = await openMailServer();
  const service = await openService({
    idle: true,
    env: { SMTP_URL: mails.url, MAIL_FROM: "platform@example.com", CONSENT_URL: "http://localhost:1" },
  });
  const owner = await service.person();
  const teams = (await owner.session()).client(TeamService);
  const { body } = await owner.v2("team.user.create", {
    email: "ivo@example.com",
    role: "TEAM_MEMBER_ROLE_MEMBER",
  });
  const { team_user_id: teamUserId } = body["user"];
  const member = await service.store.accounts.memberById(owner.spaceId, teamUserId);
  const openLinks = async () => service.store.links.listOpen(member?.accountId ?? "", Date.now());
  const first = (await openLinks()).map(({ digest }) => digest);
  await service.store.change((tx) =>
    tx.members.update(owner.spaceId, teamUserId, { email: "other@example.com" }),
  );
  expect(await teams.sendInvitation({ teamUserId })).toMatchObject({ mailed: true });
  const links = await openLinks();
  expect([links.length, links.some(({ digest }) => first.includes(digest))]).toEqual([2, false]);
  await owner.v2("team.user.update", { team_user_id: teamUserId, status: "USER_STATUS_INACTIVE" });
  expect(await outcomeOf(teams.sendInvitation({ teamUserId }))).toMatch(/^FailedPrecondition/);
  expect(await outcomeOf(teams.sendInvitation({ teamUserId: "unknown" }))).toMatch(/^NotFound/);
  await service[Symbol.asyncDispose]();
  expect(mails.received.map(({ to }) => to)).toEqual([["ivo@example.com"], ["ivo@example.com"]]);
});
