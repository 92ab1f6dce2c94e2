import type { Member } from "../../src/core/accounts/account.ts";
import type { Scope } from "../../src/core/accounts/caller.ts";
import type { AuditEntry, AuditRefusal } from "../../src/core/audit/audit.ts";
import type { InstalledConnector } from "../../src/core/connectors/connector.ts";
import type { NewComplianceExport, NewDataExport } from "../../src/core/exports/export.ts";
import type { StoredFile } from "../../src/core/files/file.ts";
import type { IdempotencyKey } from "../../src/core/idempotency/idempotency-record.ts";
import type { ApiKey } from "../../src/core/keys/api-key.ts";
import { noRestrictions } from "../../src/core/keys/restrictions.ts";
import { newProject, type Project } from "../../src/core/projects/project.ts";
import type { Store } from "../../src/core/store.ts";
import type { NewEvent } from "../../src/core/tasks/event.ts";
import { idleTask } from "../../src/core/tasks/lifecycle.ts";
import type { Task } from "../../src/core/tasks/task.ts";
import type { NewTranscriptRow } from "../../src/core/tasks/transcript.ts";
import type { Delivery, WebhookEvent } from "../../src/core/webhooks/delivery.ts";
import { documentedEventTypes, type Webhook } from "../../src/core/webhooks/webhook.ts";

let made = 0;
/** An id that no other sample has. */
export const newId = (what: string): string => {
  made += 1;
  return `${what}-${made}`;
};

export const ann: Scope = { accountId: "ann", spaceId: "north" };
/** Another person in the same space. */
export const bo: Scope = { accountId: "bo", spaceId: "north" };
/** The same person in another space. */
export const annAtHome: Scope = { accountId: "ann", spaceId: "home" };

export const sampleTask = (members: Partial<Task> = {}): Task => ({
  ...idleTask(newId("task"), ann, 1000),
  title: "Sort the post",
  status: "running",
  agentProfile: "manus-1.6",
  ...members,
});

export const userMessage = (content = "Please"): NewEvent => ({
  type: "user_message",
  payload: { content, messageType: "text" },
});
export const agentMessage = (content = "Done"): NewEvent => ({
  type: "assistant_message",
  payload: { content },
});
export const agentThought = (content = "Hm"): NewEvent => ({ type: "explanation", payload: { content } });

/** Puts a task with its first events into the store. */
export const putTask = async (
  store: Store,
  members: Partial<Task> = {},
  events: readonly NewEvent[] = [],
): Promise<Task> => (await store.change((tx) => tx.tasks.insert(sampleTask(members), events))).task;

export const sampleProject = (members: Partial<Project> = {}): Project => ({
  ...newProject(ann, { id: newId("project"), name: "Post", instruction: "" }, 1000),
  ...members,
});

export const sampleFile = (members: Partial<StoredFile> = {}): StoredFile => ({
  id: newId("file"),
  ...ann,
  clientId: null,
  apiKeyId: null,
  taskId: null,
  filename: "notes.txt",
  contentType: "text/plain",
  status: "pending",
  blobId: null,
  bytes: null,
  sha256: null,
  error: null,
  createdAt: 1000,
  uploadUntil: 181_000,
  expiresAt: null,
  deletedAt: null,
  ...members,
});

export const sampleKey = (members: Partial<ApiKey> = {}): ApiKey => ({
  id: newId("key"),
  ...ann,
  kind: "general",
  name: "ci",
  digest: newId("digest"),
  createdAt: 1000,
  expiresAt: null,
  revokedAt: null,
  lastFour: "wxyz",
  ...noRestrictions,
  ...members,
});

export const sampleMember = (members: Partial<Member> = {}): Member => ({
  id: newId("member"),
  teamId: "north-team",
  ...ann,
  email: "ann@example.com",
  role: "owner",
  status: "active",
  createdAt: 1000,
  ...members,
});

export const sampleConnector = (members: Partial<InstalledConnector> = {}): InstalledConnector => ({
  ...{
    id: newId("connector"),
    ...ann,
    uid: newId("uid"),
    name: "Garden",
    description: "",
    category: "",
    type: "mcp",
    state: "ready",
  },
  ...{
    server: { transport: "none" },
    credentials: null,
    isDefault: false,
    policy: {},
    createdAt: 1000,
    updatedAt: 1000,
  },
  ...{ tools: [], toolsAt: null },
  ...members,
});

/** Ann and Bo, the team that they can be members of, and Ann's personal space. */
export async function putPeople(store: Store): Promise<void> {
  await store.change(async ({ accounts }) => {
    for (const id of ["ann", "bo"]) {
      await accounts.insertAccount({
        id,
        email: `${id}@example.com`,
        name: null,
        locale: id === "ann" ? "en" : "fr",
        createdAt: 1000,
      });
    }
    await accounts.insertSpace({ id: "north", kind: "team", createdAt: 1000, accountId: null });
    await accounts.insertSpace({ id: "home", kind: "personal", createdAt: 1000, accountId: "ann" });
    await accounts.insertTeam({ id: "north-team", spaceId: "north", name: "North", createdAt: 1000 });
  });
}

export const sampleReplay = (members: Partial<IdempotencyKey> = {}): IdempotencyKey => ({
  ...ann,
  clientId: "",
  operation: "o",
  key: newId("key"),
  ...members,
});

export const sampleAudit = (members: Partial<AuditEntry> = {}): AuditEntry => ({
  id: newId("audit"),
  ...ann,
  at: 1000,
  credential: "key:k",
  operation: "task.v2.TaskService/DeleteTask",
  requestId: "req_1",
  address: "127.0.0.1",
  subject: null,
  before: null,
  after: null,
  ...members,
});

export const sampleRefusal = (members: Partial<AuditRefusal> = {}): AuditRefusal => {
  const { subject: _, before: __, after: ___, ...entry } = sampleAudit();
  return { ...entry, reason: "forbidden", count: 1, ...members };
};

export const sampleWebhook = (members: Partial<Webhook> = {}): Webhook => ({
  ...{
    id: newId("webhook"),
    ...ann,
    clientId: null,
    url: "https://hooks.example/",
    createdAt: 1000,
    deletedAt: null,
  },
  ...{
    status: "active",
    inactiveReason: null,
    failingSince: null,
    failures: 0,
    projectId: null,
    metadata: {},
    name: null,
  },
  ...{
    eventTypes: documentedEventTypes,
    doubleHash: false,
    secret: new Uint8Array(1),
    oldSecret: null,
    oldSecretUntil: null,
  },
  ...members,
});

export const sampleEvent = (members: Partial<WebhookEvent> = {}): WebhookEvent => ({
  ...{
    id: newId("event"),
    type: "task_stopped",
    taskId: "t",
    seq: 3,
    spaceId: "north",
    body: "{}",
    createdAt: 1000,
  },
  ...members,
});

export const sampleDelivery = (
  { id, taskId, type, seq }: WebhookEvent,
  members: Partial<Delivery> = {},
): Delivery => ({
  ...{ id: newId("delivery"), webhookId: newId("webhook"), eventId: id, taskId, type, seq },
  ...{ state: "pending", attempts: 0, nextAt: 1000, createdAt: 1000, settledAt: null },
  ...members,
});

export const sampleExport = (members: Partial<NewDataExport> = {}): NewDataExport => ({
  kind: "data",
  id: newId("export"),
  spaceId: ann.spaceId,
  accountId: "bo",
  requestedBy: ann.accountId,
  scope: "full",
  filter: {
    ...{ includeDeleted: false, includeFiles: true, startTime: null, endTime: 5000 },
    ...{ sessionIds: [], webdevProjectUids: [], projectUids: ["p"] },
  },
  reason: "case 7",
  createdAt: 1000,
  ...members,
});

export const sampleCompliance = (members: Partial<NewComplianceExport> = {}): NewComplianceExport => ({
  kind: "compliance",
  id: newId("export"),
  spaceId: ann.spaceId,
  requestedBy: ann.accountId,
  filter: {
    user: "bo",
    session: null,
    startTime: 1000,
    endTime: null,
    names: ["tool_call"],
    includePayload: true,
  },
  reason: "case 7",
  createdAt: 1000,
  ...members,
});

/** A row of a transcript. */
export const sampleRow = (position: number): NewTranscriptRow => ({
  position,
  turn: 1,
  role: "user",
  parts: [{ type: "text", text: `Part ${position}` }],
  model: null,
  inputTokens: null,
  cachedTokens: null,
  outputTokens: null,
  activeMs: 0,
  credits: 0,
  createdAt: 0,
});
