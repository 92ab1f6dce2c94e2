import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { JsonObject } from "@bufbuild/protobuf";
import type { ConnectorServer } from "../../src/core/connectors/connector.ts";
import { stepNames } from "../../src/core/exports/export.ts";
import { systemIds, systemRandom } from "../../src/core/ids.ts";
import type { Store } from "../../src/core/store.ts";
import { eventId } from "../../src/core/tasks/event.ts";
import { confirm } from "../../src/core/tasks/lifecycle.ts";
import { newWebsite } from "../../src/core/websites/website.ts";
import { makeWorker } from "../../src/core/workers/make-worker.ts";
import type { Worker } from "../../src/core/workers/worker.ts";
import { workerNode } from "../../src/core/workers/worker-run.ts";
import { OAuth2AppService } from "../../src/gen/proto/oauth/v2/oauth2_app_service_pb.ts";
import { BudgetKind } from "../../src/gen/proto/settings/v1/budget_pb.ts";
import { BudgetService } from "../../src/gen/proto/settings/v1/budget_service_pb.ts";
import { SkillService } from "../../src/gen/proto/settings/v1/skill_service_pb.ts";
import { claimTasks } from "../../src/runtime/claims.ts";
import { skillZip } from "../core/skills/zip-maker.ts";
import { openAuthorizationServer } from "../support/authorization-server.ts";
import { type McpTestServer, openMcpServer } from "../support/mcp-server.ts";
import type { Person } from "../support/service.ts";
import { putDelivery } from "../webhooks/deliveries.ts";

/** Makes what a successful call needs, and answers its v2 body; the store is for what only a running agent could do. */
type Prepare = (person: Person, store: Store) => Promise<JsonObject>;

const nothing: Prepare = async () => ({});
const message = { content: "Say hello." };

const taskId = async (person: Person): Promise<JsonObject> => {
  const { body } = await person.v2("task.create", { message });
  return { task_id: body["task_id"] };
};

const fileId: Prepare = async (person) => {
  const { body } = await person.v2("file.upload", { filename: "notes.txt" });
  return { file_id: body["file"].id };
};

const app = { name: "Garden", redirect_uris: ["https://a.example/cb"] };

const clientId = async (person: Person): Promise<JsonObject> => {
  const made = await person.client(OAuth2AppService).createOAuth2App({ name: app.name, redirectUris: app.redirect_uris });
  return { client_id: made.app?.clientId ?? "" };
};

/** A ZIP with a SKILL.md of a name of its own, in base64. */
const newSkill: Prepare = async () => ({ archive: skillZip(systemIds.short()).toString("base64") });

const skillId: Prepare = async (person) => {
  const { skill } = await person.client(SkillService).createSkill({ archive: Uint8Array.from(skillZip(systemIds.short())) });
  return { id: skill?.id ?? "" };
};

/** An app that the person lets do something. */
const grantedId: Prepare = async (person, store) => {
  const { client_id } = await clientId(person);
  const { accountId, spaceId } = person;
  const grant = { id: systemIds.short(), accountId, spaceId, clientId: String(client_id), scopes: [], connectorUids: [] };
  await store.change((tx) => tx.grants.lock({ ...grant, generation: 1, createdAt: 1, updatedAt: 1 }));
  return { client_id: String(client_id) };
};

/** An admin of the person's team. */
const heirId: Prepare = async ({ spaceId }, store) => {
  const id = systemIds.short();
  const teamId = `team-${spaceId}`;
  const member = { id, teamId, spaceId, accountId: systemIds.uuid(), email: `${id}@example.com`, role: "admin", status: "active" } as const;
  await store.change((tx) => tx.accounts.insertMember({ ...member, createdAt: 1 }));
  return { team_user_id: id };
};

/** A member of the person's team, for good or as it stands. */
const teamUserId: Prepare = async (person) => {
  const { body } = await person.v2("team.user.create", { email: `${systemIds.short()}@example.com`, role: "TEAM_MEMBER_ROLE_MEMBER" });
  return { team_user_id: body["user"].team_user_id };
};

const inactiveId = async (person: Person, store: Store): Promise<JsonObject> => {
  const id = await teamUserId(person, store);
  await person.v2("team.user.update", { ...id, status: "USER_STATUS_INACTIVE" });
  return id;
};

/** An inactive profile, and somebody to hand it to. */
const delegation: Prepare = async (person, store) => {
  const { team_user_id } = await teamUserId(person, store);
  return { ...(await inactiveId(person, store)), target_team_user_id: String(team_user_id), role: "MIGRATED_PROFILE_ROLE_MEMBER" };
};

/** Lets a task that nobody runs ask for an approval, and answers the event that asks. */
async function approvalOf(store: Store, id: string): Promise<string> {
  const waits = { kind: "terminalExecute", variant: "", actionId: "a" } as const;
  const { set, events } = confirm(waits);
  return store.change(async (tx) => {
    const task = await tx.tasks.advance(id, { now: 1, set, events });
    if (!task) throw new Error("no such task");
    const seq = task.lastSeq - 1;
    const { spaceId } = task;
    await tx.actions.insert({ taskId: id, seq, spaceId, ...waits, state: "pending", input: null });
    return eventId(id, seq);
  });
}

/** An address on this machine, for a platform that may reach it; it answers 200 to whatever comes, and holds no test up. */
const hookUrl: Prepare = async () => {
  const server = createServer((request, response) => void request.resume().once("end", () => response.end())).unref();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo; // It listens on TCP.
  return { url: `http://127.0.0.1:${port}/` };
};

const webhookId: Prepare = async (person, store) => {
  const { body } = await person.v2("webhook.create", await hookUrl(person, store));
  return { webhook_id: body["webhook"].id };
};

/** A delivery that failed. */
const deliveryId: Prepare = async (person, store) => {
  const { webhook_id } = await webhookId(person, store);
  const { id } = await putDelivery(store, { webhookId: String(webhook_id), state: "failed", nextAt: null, settledAt: 1 });
  return { delivery_id: id };
};

const ofUser: Prepare = async ({ accountId }) => ({ user: accountId });
const pageOfUser: Prepare = async ({ accountId }) => ({ user: accountId, page: 1, page_size: 1 });
const wantedExport: Prepare = async ({ accountId }) => ({ user_id: accountId, scope: "ENTERPRISE_EXPORT_SCOPE_FULL" });

const exportId: Prepare = async (person, store) => {
  const { body } = await person.v2("enterprise.export.create", await wantedExport(person, store));
  return { uid: body["uid"] };
};

/** An export whose archive was made, as by a job, and is fetched by nobody. */
const completed =
  (made: Prepare): Prepare =>
  async (person, store) => {
    const { uid } = await made(person, store);
    const id = String(uid);
    await store.change(async (tx) => {
      const claimed = await tx.exports.claim(id, Number.MAX_SAFE_INTEGER - 1, Number.MAX_SAFE_INTEGER);
      await tx.exports.complete(id, claimed?.fence ?? 0, { blobId: id, bytes: 1, sha256: "", eventCount: null }, Date.now());
    });
    return { uid: id };
  };

/** Asks for nothing, of a space in which no other export of the kind is open. */
const wantedSteps: Prepare = async ({ spaceId }, store) => {
  for (const id of await store.exports.loose(Number.MAX_SAFE_INTEGER, 1_000)) {
    const found = await store.exports.byId(id);
    if (found?.kind === "compliance" && found.spaceId === spaceId) await store.change((tx) => tx.exports.cancel(id, Date.now()));
  }
  return {};
};

/** As by the operation, which takes keys of one kind alone. */
const stepsExportId: Prepare = async (person, store) => {
  await wantedSteps(person, store);
  const { accountId: requestedBy, spaceId } = person;
  const filter = { user: null, session: null, startTime: null, endTime: null, names: stepNames, includePayload: false };
  const wanted = { kind: "compliance" as const, id: systemIds.short(), spaceId, requestedBy, filter, reason: "", createdAt: Date.now() };
  await store.change((tx) => tx.exports.insert(wanted));
  return { uid: wanted.id };
};

/** The newest worker of the person's space; one is made where there is none. */
async function workerOf({ spaceId, accountId: createdBy }: Person, store: Store): Promise<Pick<Worker, "id">> {
  const [worker] = await store.workers.list(spaceId);
  const making = { now: 1, ids: systemIds, random: systemRandom };
  return worker ?? (await store.change((tx) => makeWorker(tx, making, { spaceId, createdBy, name: "w", profiles: [] }))).worker;
}

/** A run that the worker has. */
const heldRun: Prepare = async (person, store) => heldRunOf(person, store, await taskId(person));

/** A run of the agent's main task that the worker has. */
const heldMainRun: Prepare = async (person, store) => {
  const { body } = await person.v2("task.sendMessage", { task_id: "agent-default-main_task", message });
  return heldRunOf(person, store, { task_id: body["task_id"] });
};

async function heldRunOf(person: Person, store: Store, { task_id }: JsonObject): Promise<JsonObject> {
  const { id: workerId } = await workerOf(person, store);
  return store.change(async (tx) => {
    const waiting = await tx.tasks.byId(String(task_id));
    const [task] = waiting ? await claimTasks(tx, [waiting], workerNode(workerId), 1) : [];
    if (!task) throw new Error("no such task");
    const { id: held, spaceId, fence } = task;
    await tx.workerRuns.put([{ taskId: held, spaceId, workerId, fence, startedAt: 1, leaseUntil: 2 ** 45 }]);
    return { task_id: held, fence };
  });
}

const uids = new Map<string, string>();
const uidOf = (id: string): string => uids.get(id) ?? "";

/** A connector of the person's, past the call that installs one. */
async function connectorAt(person: Person, store: Store, server: ConnectorServer): Promise<JsonObject> {
  const { accountId, spaceId } = person;
  const [id, uid] = [systemIds.short(), systemIds.uuid()];
  uids.set(id, uid);
  const words = { name: "Garden", description: "", category: "", type: "mcp", state: "ready" } as const;
  const bare = { credentials: null, isDefault: false, toolsAt: null, policy: {}, createdAt: 1, updatedAt: 1 };
  const tools = [{ name: "water", description: "", inputSchema: { type: "object" } }];
  await store.change((tx) => tx.connectors.insert({ id, uid, accountId, spaceId, server, ...words, ...bare, tools }));
  return { id };
}

const connectorId: Prepare = (person, store) => connectorAt(person, store, { transport: "none" });
let gardener: Promise<McpTestServer> | undefined;
const mcpConnectorId: Prepare = async (person, store) => {
  gardener ??= openMcpServer();
  return connectorAt(person, store, { transport: "http", url: (await gardener).url, auth: "none", header: "" });
};
let provider: Promise<{ readonly issuer: string }> | undefined;
const oauthConnectorId: Prepare = async (person, store) => {
  provider ??= openAuthorizationServer();
  return connectorAt(person, store, { transport: "http", url: `${(await provider).issuer}/mcp`, auth: "oauth", header: "" });
};

const projectId: Prepare = async (person) => {
  const { body } = await person.v2("project.create", { name: "Garden" });
  return { project_id: body["project"].id };
};

/** A website with a checkpoint, as an agent leaves it. */
const websiteId: Prepare = async (person, store) => {
  const { task_id } = await taskId(person);
  const { accountId, spaceId } = person;
  const made = { now: 1, ids: systemIds, random: systemRandom, taskId: String(task_id), accountId, spaceId, title: "Garden" };
  const site = newWebsite(made);
  const checkpoint = {
    id: systemIds.short(),
    websiteId: site.id,
    spaceId,
    message: "",
    status: "success",
    hash: "h",
    createdAt: 1,
  } as const;
  await store.change(async (tx) => {
    await tx.websites.insert(site);
    await tx.checkpoints.insert(checkpoint, []);
  });
  return { website_id: site.id };
};

/** Every operation that is built, by its v2 name or, where it has none, its RPC, with a call that succeeds; whatever is not here answers `unimplemented`. */
export const built: Readonly<Record<string, Prepare>> = {
  "task.create": async () => ({ message }),
  "task.detail": taskId,
  "task.list": nothing,
  "task.update": async (person) => ({ ...(await taskId(person)), title: "Hello" }),
  "task.stop": taskId,
  async "task.delete"(person) {
    const task = await taskId(person);
    await person.v2("task.stop", task);
    return task;
  },
  "task.sendMessage": async (person) => ({ ...(await taskId(person)), message }),
  "task.listMessages": taskId,
  async "task.watch"(person) {
    const task = await taskId(person);
    await person.v2("task.stop", task);
    return { ...task, until_settled: true };
  },
  async "task.confirmAction"(person, store) {
    const { task_id } = await taskId(person);
    return { task_id: String(task_id), event_id: await approvalOf(store, String(task_id)), input: { accept: true } };
  },
  "task.v2.TaskService/GetConversation": taskId,
  "task.v2.TaskService/ListConversations": nothing,
  "project.create": async () => ({ name: "Garden" }),
  "project.list": nothing,
  "webhook.create": hookUrl,
  "webhook.list": nothing,
  "webhook.delete": webhookId,
  "webhook.publicKey": nothing,
  "webhook.update": async (person, store) => ({ ...(await webhookId(person, store)), status: "inactive" }),
  "webhook.rotateSecret": webhookId,
  "webhook.ping": webhookId,
  "webhook.deliveries": webhookId,
  "webhook.attempts": deliveryId,
  "webhook.resend": deliveryId,
  "webhook.recover": async (person, store) => ({ ...(await webhookId(person, store)), since: 0 }),
  "file.upload": async () => ({ filename: "notes.txt" }),
  "file.detail": fileId,
  "file.delete": fileId,
  "file.v2.FileService/ListFiles": nothing,
  "skill.list": nothing,
  "connector.list": nothing,
  "agent.list": nothing,
  "agent.detail": async () => ({ agent_id: "agent-default" }),
  "agent.update": async () => ({ agent_id: "agent-default", nickname: "Ada" }),
  "browser.onlineList": nothing,
  "browser.v2.BrowserService/Attach": async () => ({ hello: { client_id: systemIds.uuid(), client_name: "Laptop" } }),
  "website.status": websiteId,
  "website.listCheckpoints": websiteId,
  "website.publish": websiteId,
  "website.update": async (person, store) => ({ ...(await websiteId(person, store)), title: "Orchard" }),
  "user.me": nothing,
  "audit.list": nothing,
  "usage.list": nothing,
  "usage.availableCredits": nothing,
  "usage.teamStatistic": nothing,
  "usage.teamLog": nothing,
  "settings.v1.BudgetService/SetBudget": async ({ accountId }) => ({ kind: "BUDGET_KIND_ACCOUNT", subject: accountId, credits: 1 }),
  "settings.v1.BudgetService/ListBudgets": nothing,
  async "settings.v1.BudgetService/RemoveBudget"(person) {
    const { budget } = await person.client(BudgetService).setBudget({ kind: BudgetKind.ACCOUNT, subject: person.accountId, credits: 1n });
    return { id: budget?.id ?? "" };
  },
  "settings.v1.ApiKeyService/CreateApiKey": async () => ({ name: "ci" }),
  "settings.v1.ApiKeyService/ListApiKeys": nothing,
  "settings.v1.ApiKeyService/RevokeApiKey": async ({ keyId }) => ({ id: keyId }),
  "settings.v1.SkillService/CreateSkill": newSkill,
  "settings.v1.SkillService/ListSkills": nothing,
  "settings.v1.SkillService/UpdateSkill": skillId,
  "settings.v1.SkillService/DeleteSkill": skillId,
  "settings.v1.TeamService/TransferOwnership": heirId,
  "team.user.list": nothing,
  "team.user.detail": teamUserId,
  "team.user.create": async () => ({ email: `${systemIds.short()}@example.com`, role: "TEAM_MEMBER_ROLE_GUEST" }),
  "team.user.update": async (person, store) => ({ ...(await teamUserId(person, store)), status: "USER_STATUS_INACTIVE" }),
  "team.user.delegate": delegation,
  async "team.user.reclaim"(person, store) {
    const wanted = await delegation(person, store);
    await person.v2("team.user.delegate", wanted);
    return { team_user_id: wanted["team_user_id"] ?? "" };
  },
  "team.user.rename": async (person, store) => ({ ...(await teamUserId(person, store)), display_name: "Ann" }),
  "team.user.remove": teamUserId,
  "team.asset.list": async () => ({ asset_type: "ASSET_TYPE_SESSION_SHARE" }),
  async "team.asset.update_scope"(person) {
    const { body } = await person.v2("task.create", { message, share_visibility: "public" });
    return { share_uid: body["task_id"], permission: "SHARE_SCOPE_TEAM_ONLY", note: "Not for everybody." };
  },
  "settings.v1.WorkerService/CreateWorker": async () => ({ name: "ci" }),
  "settings.v1.WorkerService/ListWorkers": nothing,
  "settings.v1.WorkerService/RevokeWorker": async (person, store) => ({ id: (await workerOf(person, store)).id }),
  "settings.v1.ConnectorService/InstallConnector": async () => ({ uid: "be268223-40b2-4f3c-a907-c12eb1699283" }),
  "settings.v1.ConnectorService/ListInstalled": nothing,
  "settings.v1.ConnectorService/SetConnectorPolicy": connectorId,
  "settings.v1.ConnectorService/SetDefault": connectorId,
  "settings.v1.ConnectorService/RemoveConnector": connectorId,
  "settings.v1.ConnectorService/RefreshTools": mcpConnectorId,
  "settings.v1.ConnectorService/BeginAuthorization": oauthConnectorId,
  "settings.v1.ConnectorService/GetProjectConnectors": projectId,
  "settings.v1.ConnectorService/SetProjectConnectors": projectId,
  "worker.v1.WorkerService/Poll": nothing,
  "worker.v1.WorkerService/Heartbeat": heldRun,
  "worker.v1.WorkerService/Append": async (person, store) => ({
    ...(await heldRun(person, store)),
    events: [{ key: "1", explanation: { content: "Hm" } }],
  }),
  "worker.v1.WorkerService/Finish": async (person, store) => ({ ...(await heldRun(person, store)), finish: { content: "Done" } }),
  "worker.v1.WorkerService/Upload": async (person, store) => ({ ...(await heldRun(person, store)), filename: "a.txt" }),
  async "worker.v1.WorkerService/CallTool"(person, store) {
    const { id } = await mcpConnectorId(person, store);
    const run = await heldRun(person, store);
    await store.change(async (tx) => {
      await tx.connectors.update(String(id), { policy: { water: "allow" } });
      await tx.means.set({ id: String(run["task_id"]), spaceId: person.spaceId }, { connectors: [uidOf(String(id))] });
    });
    return { ...run, connector_id: uidOf(String(id)), tool: "water", input: { bed: "roses" } };
  },
  "worker.v1.WorkerService/StartSubtask": async (person, store) => ({
    ...(await heldMainRun(person, store)),
    ...{ key: systemIds.short(), message: "Count the owls" },
  }),
  "worker.v1.WorkerService/Release": heldRun,
  "oauth.v2.OAuth2AppService/CreateOAuth2App": async () => app,
  "oauth.v2.OAuth2AppService/GetOAuth2App": clientId,
  "oauth.v2.OAuth2AppService/ListOAuth2Apps": nothing,
  "oauth.v2.OAuth2AppService/UpdateOAuth2App": async (person) => ({ ...(await clientId(person)), name: "Orchard" }),
  "oauth.v2.OAuth2AppService/DeleteOAuth2App": clientId,
  "oauth.v2.OAuth2AppService/CreateOAuth2AppSecret": clientId,
  "oauth.v2.OAuth2AppService/ListOAuth2AppSecrets": clientId,
  async "oauth.v2.OAuth2AppService/RevokeOAuth2AppSecret"(person) {
    const { client_id } = await clientId(person);
    const { data } = await person.client(OAuth2AppService).listOAuth2AppSecrets({ clientId: String(client_id) });
    return { client_id: String(client_id), secret_id: data[0]?.id ?? "" };
  },
  "oauth.v2.OAuth2AppService/ListOAuth2Grants": nothing,
  "oauth.v2.OAuth2AppService/RevokeOAuth2Grant": grantedId,
  "enterprise.task.list": ofUser,
  "enterprise.export.create": wantedExport,
  "enterprise.export.detail": exportId,
  "enterprise.export.list": ofUser,
  "enterprise.export.downloadUrl": completed(exportId),
  "dataexport.v1.EnterpriseDataExportService/ListTasks": pageOfUser,
  "dataexport.v1.EnterpriseDataExportService/CreateExport": wantedExport,
  "dataexport.v1.EnterpriseDataExportService/GetExport": exportId,
  "dataexport.v1.EnterpriseDataExportService/ListExports": pageOfUser,
  "dataexport.v1.EnterpriseDataExportService/GetDownloadURL": completed(exportId),
  "enterprise.compliance.export.create": wantedSteps,
  "enterprise.compliance.export.detail": stepsExportId,
  "enterprise.compliance.export.downloadUrl": completed(stepsExportId),
};
