import { expect } from "vitest";
import { sampledTest } from "../support/sampled.ts";
import { openService } from "../support/service.ts";
import { blocksIn, readPage, shell } from "./page.ts";

const test = sampledTest(3);

const [create = "", list = "", delegate = "", assets = "", , group = ""] = blocksIn(
  readPage("docs/operate/enterprise.md"),
  "sh",
);

test("docs/operate/enterprise.md adds, lists, delegates, revokes and removes a member by its commands", async () => {
  await using service = await openService({ idle: true });
  const owner = await service.person();
  const { key } = await service.person({ as: owner, with: owner, kind: "team_user_mgmt" });
  const known: Record<string, string> = { ATP_URL: service.url, ATP_KEY: key };
  const { user: ivo } = JSON.parse(await shell(create, known));
  expect(ivo).toMatchObject({
    email: "ivo@example.com",
    user_name: "Ivo Brandt",
    status: "USER_STATUS_ACTIVE",
  });
  const { body } = await owner.v2("team.user.create", {
    email: "lea@example.com",
    role: "TEAM_MEMBER_ROLE_ADMIN",
  });
  Object.assign(known, { IVO: ivo.team_user_id, LEA: body["user"].team_user_id });
  expect(JSON.parse(await shell(list, known))).toMatchObject({ total: 3, limit: 100 });
  const [, delegated, holder, reclaimed, removed] = (await shell(delegate, known))
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(delegated.user).toMatchObject({ delegated_to: known["LEA"], original_email: "ivo@example.com" });
  expect(holder.user.delegated_profiles).toMatchObject([
    { team_user_id: known["IVO"], display_name: "Ivo Brandt" },
  ]);
  expect(reclaimed).toMatchObject({ previous_delegate: known["LEA"], user: { email: "ivo@example.com" } });
  expect(removed.user).toMatchObject({ status: "USER_STATUS_REMOVED" });
  expect(JSON.parse(await shell(group, known))).toMatchObject({
    displayName: "platform-admins",
    members: [],
  });
});

test("docs/operate/enterprise.md lists what members share, and caps it, by its commands", async () => {
  await using service = await openService({ idle: true });
  const owner = await service.person();
  const { key } = await service.person({ as: owner, with: owner, kind: "team_asset_mgmt" });
  const { body } = await owner.v2("task.create", { message: { content: "Hi" }, share_visibility: "public" });
  const printed = await shell(assets, { ATP_URL: service.url, ATP_KEY: key, TASK: body["task_id"] });
  const [before, capped, after] = printed
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));
  expect(before.assets).toMatchObject([{ uid: body["task_id"], permission: "SHARE_SCOPE_PUBLIC" }]);
  expect(capped).toEqual({ ok: true, request_id: expect.any(String) });
  expect(after.assets).toMatchObject([
    { permission: "SHARE_SCOPE_TEAM_ONLY", max_permission: "SHARE_SCOPE_TEAM_ONLY" },
  ]);
});
