import { expect, test } from "vitest";
import { AuditService } from "../../src/gen/proto/audit/v2/audit_service_pb.ts";
import { EnterpriseDataExportV2Service } from "../../src/gen/proto/dataexport/v2/export_service_pb.ts";
import { FileService } from "../../src/gen/proto/file/v2/file_service_pb.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { EnterpriseComplianceV2Service } from "../../src/gen/proto/observability/v2/compliance_export_service_pb.ts";
import { ProjectService } from "../../src/gen/proto/project/v2/project_service_pb.ts";
import { ContentPartType } from "../../src/gen/proto/task/v2/message_pb.ts";
import { ShareVisibility } from "../../src/gen/proto/task/v2/task_pb.ts";
import { TaskService } from "../../src/gen/proto/task/v2/task_service_pb.ts";
import { TeamAssetAuditApiV2Service } from "../../src/gen/proto/team/v2/team_asset_audit_service_pb.ts";
import { TeamAssetManageApiV2Service } from "../../src/gen/proto/team/v2/team_asset_manage_service_pb.ts";
import { AssetType, ShareScope } from "../../src/gen/proto/team/v2/team_asset_pb.ts";
import { outcomeOf, settingsRig } from "../settings/settings-rig.ts";
import { describeOnOne } from "../support/database.ts";
import { newApp, tokenOf } from "../support/token.ts";

const message = (text: string) => ({ message: { content: [{ type: ContentPartType.TEXT, text }] } });

describeOnOne("a session of a person (spec/decisions.md 56)", (database) => {
  const rig = settingsRig(database, { idle: false });
  const tasksOf = async (of: Awaited<ReturnType<typeof rig.person>>) =>
    (await of.session()).client(TaskService);

  test("creates, reads, changes and deletes the same tasks as the person's general key", async () => {
    const ann = await rig.person();
    const tasks = await tasksOf(ann);
    const { taskId } = await tasks.createTask(message("hello"));
    expect((await ann.v2("task.detail", { task_id: taskId })).body["task"]).toMatchObject({ id: taskId });
    await tasks.updateTask({ taskId, title: "by a session" });
    const { body } = await ann.v2("task.create", { message: { content: "by a key" } });
    const listed = (await tasks.listTasks({})).data.map(({ id }) => id);
    expect(listed.toSorted()).toEqual([taskId, String(body["task_id"])].toSorted());
    expect((await tasks.listMessages({ taskId })).messages.length).toBeGreaterThan(0);
    await tasks.stopTask({ taskId });
    await tasks.deleteTask({ taskId });
    expect((await ann.v2("task.detail", { task_id: taskId })).status).toBe(404);
  });

  test("reaches neither the tasks of a colleague nor those of the same person in another space", async () => {
    const ann = await rig.person();
    const bo = await rig.person({ with: ann });
    const elsewhere = await rig.person({ as: ann });
    const { taskId } = await (await tasksOf(ann)).createTask(message("private"));
    for (const other of [bo, elsewhere]) {
      const tasks = await tasksOf(other);
      expect(await outcomeOf(tasks.getTask({ taskId }))).toBe("NotFound: task not found");
      expect((await tasks.listTasks({})).data).toEqual([]);
    }
  });

  test("has the projects and files of its space", async () => {
    const ann = await rig.person();
    const session = await ann.session();
    const { project } = await session.client(ProjectService).createProject({ name: "Garden" });
    const { file } = await session.client(FileService).uploadFile({ filename: "a.txt" });
    expect((await ann.v2("project.list")).body["data"]).toMatchObject([{ id: project?.id }]);
    expect((await ann.v2("file.detail", { file_id: file?.id })).status).toBe(200);
  });

  test("of an owner makes data exports and compliance exports of the team", async () => {
    const owner = await rig.person();
    const bo = await rig.person({ with: owner });
    const session = await owner.session();
    const made = await session
      .client(EnterpriseDataExportV2Service)
      .createExport({ userId: bo.accountId, scope: 2 });
    expect((await owner.v2("enterprise.export.detail", { uid: made.uid })).status).toBe(200);
    const compliance = session.client(EnterpriseComplianceV2Service);
    const { uid } = await compliance.createExport({ reason: "review" });
    const siem = await rig.person({ as: owner, with: owner, kind: "siem" });
    expect((await siem.v2("enterprise.compliance.export.detail", { uid })).status).toBe(200);
  });

  test("of a super admin lists and caps shares; the audit rows name the session, and no key", async () => {
    const owner = await rig.person();
    const root = await rig.person({ with: owner, role: "super_admin" });
    const { taskId } = await (await tasksOf(owner)).createTask({
      ...message("shared"),
      shareVisibility: ShareVisibility.PUBLIC,
    });
    const session = await root.session();
    const { assets } = await session
      .client(TeamAssetAuditApiV2Service)
      .listShareableAssets({ assetType: AssetType.SESSION_SHARE });
    expect(assets.map(({ uid }) => uid)).toEqual([taskId]);
    await session
      .client(TeamAssetManageApiV2Service)
      .updateAssetShareScope({ shareUid: taskId, permission: ShareScope.OWNER });
    expect((await owner.v2("task.detail", { task_id: taskId })).body["task"]).toMatchObject({
      share_visibility: "private",
    });
    const { body } = await owner.v2("audit.list", {});
    const rows = body["data"].filter(({ operation }: { readonly operation: string }) =>
      operation.startsWith("team.v2.TeamAsset"),
    );
    expect(rows.map(({ credential }: { readonly credential: string }) => credential)).toEqual(
      Array(2).fill(`session:${session.id}`),
    );
    expect(JSON.stringify(rows)).not.toContain("keyType");
    expect((await session.client(AuditService).listAuditEvents({})).data.length).toBeGreaterThan(0);
  });

  test("of a guest lists and revokes the guest's own grants, and no apps", async () => {
    const owner = await rig.person();
    const guest = await rig.person({ with: owner, role: "guest" });
    const token = await tokenOf(rig.service, guest, { of: await newApp(rig.service, owner) });
    const apps = (await guest.session()).client(OAuth2AppService);
    expect((await apps.listOAuth2Grants({})).data).toMatchObject([{ clientId: token.clientId }]);
    await apps.revokeOAuth2Grant({ clientId: token.clientId });
    expect((await apps.listOAuth2Grants({})).data).toEqual([]);
    expect(await outcomeOf(apps.listOAuth2Apps({}))).toMatch(/^PermissionDenied/);
  });

  test("is refused from the next call on when its person leaves the team or loses the role", async () => {
    const owner = await rig.person();
    const root = await rig.person({ with: owner, role: "super_admin" });
    const session = await root.session();
    const assets = session.client(TeamAssetAuditApiV2Service);
    const list = () => outcomeOf(assets.listShareableAssets({ assetType: AssetType.SESSION_SHARE }));
    expect(await list()).toBe("let in");
    const member = await rig.db.store.accounts.member(`team-${owner.spaceId}`, root.accountId);
    const team_user_id = member?.id ?? "";
    expect(
      (await owner.v2("team.user.update", { team_user_id, role: "TEAM_MEMBER_ROLE_MEMBER" })).status,
    ).toBe(200);
    expect(await list()).toMatch(/^PermissionDenied/);
    expect((await owner.v2("team.user.remove", { team_user_id })).status).toBe(200);
    expect(await outcomeOf(session.client(TaskService).listTasks({}))).toMatch(/^Unauthenticated/);
  });
});
