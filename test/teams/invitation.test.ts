import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { openMailServer } from "../support/mail-server.ts";
import { openService } from "../support/service.ts";

const role = "TEAM_MEMBER_ROLE_MEMBER";

test("whoever is added is mailed a sign-in link, which the process sends before it ends; whoever was there already is mailed nothing", async () => {
  await using mails = await openMailServer();
  const service = await openService({
    idle: true,
    env: { SMTP_URL: mails.url, MAIL_FROM: "platform@example.com", CONSENT_URL: "http://localhost:1" },
  });
  const owner = await service.person();
  const { body } = await owner.v2("team.user.create", { email: "ivo@example.com", role });
  expect(body.ok).toBe(true);
  // Refused ones are mailed nothing.
  await owner.v2("team.user.create", { email: "IVO@example.com", role });
  const member = await service.store.accounts.memberById(owner.spaceId, body["user"].team_user_id);
  const open = await service.store.links.openOf(member?.accountId ?? "", Date.now());
  // One that is mailed, and one whose text nobody has, for single sign-on.
  expect(open).toHaveLength(2);
  // Draining waits for what is on its way.
  await service[Symbol.asyncDispose]();
  expect(mails.received.map(({ to }) => to)).toEqual([["ivo@example.com"]]);
  expect(mails.received[0]?.text).toMatch(/http:\/\/localhost:1\/link\/[\w-]{43}/);
  expect(JSON.stringify(service.logged)).not.toContain("ivo@");
});

test("a mail that fails is logged, without the address, and the member is there", async () => {
  await using mails = await openMailServer({ onRcptTo: (_address, _session, done) => done(new Error("no such ivo@example.com")) });
  const service = await openService({ idle: true, env: { SMTP_URL: mails.url, MAIL_FROM: "platform@example.com" } });
  const owner = await service.person();
  const { body } = await owner.v2("team.user.create", { email: "ivo@example.com", role });
  expect(body["user"]).toMatchObject({ status: "USER_STATUS_ACTIVE" });
  await turn();
  await service[Symbol.asyncDispose]();
  expect(mails.received).toEqual([]);
  const warned = service.logged.filter(({ text }) => text.startsWith("an invitation was not mailed"));
  expect(warned).toHaveLength(1);
  expect(JSON.stringify(service.logged)).not.toContain("ivo@");
});

test("an address with an account elsewhere answers as an unknown one; its name is told from the first sign-in on (decisions.md 5)", async () => {
  await using service = await openService({ idle: true });
  const [owner, other] = [await service.person(), await service.person()];
  const { id, email } = { id: "00000000-0000-4000-8000-000000000001", email: "known@example.com" };
  await service.store.change(async ({ accounts }) => {
    await accounts.insertAccount({ id, email, name: "Known Elsewhere", locale: "en", createdAt: 1 });
  });
  await other.v2("team.user.create", { email, role });
  const { body: known } = await owner.v2("team.user.create", { email, role });
  const { body: unknown } = await owner.v2("team.user.create", { email: "other@example.com", role });
  const { team_user_id, ...shown } = known["user"];
  expect({ ...shown, email: "" }).toEqual({ ...unknown["user"], email: "", team_user_id: undefined });
  await service.store.change((tx) => tx.signIns.signedIn(team_user_id, Date.now()));
  expect((await owner.v2("team.user.detail", { team_user_id })).body["user"]).toMatchObject({ user_name: "Known Elsewhere" });
  await owner.v2("team.user.rename", { team_user_id, display_name: "Ours" });
  expect((await owner.v2("team.user.detail", { team_user_id })).body["user"]).toMatchObject({ user_name: "Ours" });
  // Nor does the other team hear of either.
  expect((await other.v2("team.user.detail", { email })).body["user"]).not.toHaveProperty("user_name");
});
