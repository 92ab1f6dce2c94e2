import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { openMailServer } from "../support/mail-server.ts";
import { openService } from "../support/service.ts";

const role = "TEAM_MEMBER_ROLE_MEMBER";

test("a new member receives a sign-in link by mail, sent before the process ends; an existing member receives no mail", async () => {
  await using mails = await openMailServer();
  const service = await openService({
    idle: true,
    env: { SMTP_URL: mails.url, MAIL_FROM: "platform@example.com", CONSENT_URL: "http://localhost:1" },
  });
  const owner = await service.person();
  const { body } = await owner.v2("team.user.create", { email: "ivo@example.com", role });
  expect(body.ok).toBe(true);
  // Refused calls send no mail.
  await owner.v2("team.user.create", { email: "IVO@example.com", role });
  const member = await service.store.accounts.memberById(owner.spaceId, body["user"].team_user_id);
  const open = await service.store.links.listOpen(member?.accountId ?? "", Date.now());
  // One mailed link, and one link without a known text, for single sign-on.
  expect(open).toHaveLength(2);
  // Draining waits for mails in progress.
  await service[Symbol.asyncDispose]();
  expect(mails.received.map(({ to }) => to)).toEqual([["ivo@example.com"]]);
  expect(mails.received[0]?.text).toMatch(/http:\/\/localhost:1\/link\/[\w-]{43}/);
  expect(JSON.stringify(service.logged)).not.toContain("ivo@");
});

test("a failed mail is logged, without the address, and the member is added", async () => {
  await using mails = await openMailServer({
    onRcptTo: (_address, _session, done) => done(new Error("no such ivo@example.com")),
  });
  const service = await openService({
    idle: true,
    env: { SMTP_URL: mails.url, MAIL_FROM: "platform@example.com" },
  });
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

test("an address with an account elsewhere gives the same answer as an unknown one; its name is shown after the first sign-in (spec/decisions.md 5)", async () => {
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
  await service.store.change((tx) => tx.signIns.recordFirstSignIn(team_user_id, Date.now()));
  expect((await owner.v2("team.user.detail", { team_user_id })).body["user"]).toMatchObject({
    user_name: "Known Elsewhere",
  });
  await owner.v2("team.user.rename", { team_user_id, display_name: "Ours" });
  expect((await owner.v2("team.user.detail", { team_user_id })).body["user"]).toMatchObject({
    user_name: "Ours",
  });
  // The other team is not notified either.
  expect((await other.v2("team.user.detail", { email })).body["user"]).not.toHaveProperty("user_name");
});
