import type { AccountRows } from "./accounts/account.ts";
import type { ActionRows } from "./actions/action.ts";
import type { AgentRows } from "./agents/agent.ts";
import type { ShareRows } from "./assets/share.ts";
import type { AuditRows } from "./audit/audit.ts";
import type { AuditChainRows } from "./audit/chain.ts";
import type { AuditLogRows } from "./audit/log.ts";
import type { BrowserRows } from "./browsers/browser.ts";
import type { ConnectorRows } from "./connectors/connector.ts";
import type { ErasureRows } from "./erasure/erasure.ts";
import type { ArchiveRows, StepRows } from "./exports/archive-rows.ts";
import type { ExportRows } from "./exports/export.ts";
import type { BlobRows } from "./files/blob.ts";
import type { FileRows } from "./files/file.ts";
import type { IdempotencyRows } from "./idempotency/idempotency-record.ts";
import type { ImportedRows } from "./imports/imported-object.ts";
import type { ReplicaState } from "./installation/checks.ts";
import type { ModelRows } from "./installation/models.ts";
import type { InstallationRows } from "./installation/status.ts";
import type { TransferRows } from "./installation/transfer.ts";
import type { ApiKeyRows } from "./keys/api-key.ts";
import type { AppRows, ClientRows } from "./oauth/app.ts";
import type { CodeRows } from "./oauth/code.ts";
import type { DeviceRows } from "./oauth/device.ts";
import type { FamilyRows } from "./oauth/family.ts";
import type { GrantRows } from "./oauth/grant.ts";
import type { RegistrationRows } from "./oauth/registration.ts";
import type { SigningKeyRows } from "./oauth/signing-key.ts";
import type { ProcessKeyRows, SealedRows } from "./processes/key-rotation.ts";
import type { JobRows, NodeRows, RateCounters, SettingRows } from "./processes/shared.ts";
import type { ProjectRows } from "./projects/project.ts";
import type { PushConfigRows } from "./push/push-config.ts";
import type { RetentionRows } from "./retention/retention.ts";
import type { ScheduleRows } from "./schedules/schedule.ts";
import type { FactorRows } from "./sign-in/factor.ts";
import type { LinkRows } from "./sign-in/link.ts";
import type { MailedLinkRows } from "./sign-in/mailed-link.ts";
import type { SessionRows, SignInRows } from "./sign-in/sign-in.ts";
import type { SkillRows } from "./skills/skill.ts";
import type { ConversationRows } from "./tasks/conversations.ts";
import type { EventRows } from "./tasks/event.ts";
import type { ParentRows } from "./tasks/parents.ts";
import type { ProfileRows } from "./tasks/profile-settings.ts";
import type { SegmentRows } from "./tasks/segment.ts";
import type { WaitRows } from "./tasks/subtask-wait.ts";
import type { Task, TaskWritten } from "./tasks/task.ts";
import type { TaskResourceRows } from "./tasks/task-resources.ts";
import type { TaskRows } from "./tasks/task-rows.ts";
import type { TranscriptRows } from "./tasks/transcript.ts";
import type { GroupRows } from "./teams/group.ts";
import type { MemberRows } from "./teams/team-user.ts";
import type { BudgetRows } from "./usage/budget.ts";
import type { UsageRows } from "./usage/usage.ts";
import type { DeliveryRows } from "./webhooks/delivery.ts";
import type { DeliveryLogRows } from "./webhooks/delivery-log.ts";
import type { ListenerRows } from "./webhooks/listener.ts";
import type { WebhookEventRows } from "./webhooks/notifications.ts";
import type { WebhookKeyRows, WebhookRows } from "./webhooks/webhook.ts";
import type { CheckpointRows } from "./websites/checkpoint.ts";
import type { DomainRows } from "./websites/domain.ts";
import type { ViewerRows } from "./websites/viewers.ts";
import type { SiteVisitRows } from "./websites/visit.ts";
import type { WebsiteRows } from "./websites/website.ts";
import type { WorkerRows } from "./workers/worker.ts";
import type { WorkerEventRows, WorkerRunRows } from "./workers/worker-run.ts";
import type { WorkspaceRows } from "./workspaces/workspace.ts";

/**
 * All stored rows, as one open transaction sees them. Outside a change they are
 * those of the newest commit, and read only.
 */
export interface Tx {
  readonly accounts: AccountRows;
  readonly members: MemberRows;
  readonly groups: GroupRows;
  readonly keys: ApiKeyRows;
  readonly sessions: SessionRows;
  readonly signIns: SignInRows;
  readonly links: LinkRows;
  readonly mailedLinks: MailedLinkRows;
  readonly factors: FactorRows;
  readonly apps: AppRows;
  readonly clients: ClientRows;
  readonly registrations: RegistrationRows;
  readonly grants: GrantRows;
  readonly codes: CodeRows;
  readonly devices: DeviceRows;
  readonly families: FamilyRows;
  readonly signingKeys: SigningKeyRows;
  readonly projects: ProjectRows;
  readonly skills: SkillRows;
  readonly webhooks: WebhookRows;
  readonly listeners: ListenerRows;
  readonly pushConfigs: PushConfigRows;
  readonly deliveryLog: DeliveryLogRows;
  readonly agents: AgentRows;
  readonly agentProfiles: ProfileRows;
  readonly connectors: ConnectorRows;
  readonly tasks: TaskRows;
  readonly taskResources: TaskResourceRows;
  readonly schedules: ScheduleRows;
  readonly events: EventRows;
  readonly segments: SegmentRows;
  readonly transcripts: TranscriptRows;
  readonly conversations: ConversationRows;
  readonly actions: ActionRows;
  readonly parents: ParentRows;
  readonly waits: WaitRows;
  readonly webhookEvents: WebhookEventRows;
  readonly files: FileRows;
  readonly blobs: BlobRows;
  readonly workspace: WorkspaceRows;
  readonly jobs: JobRows;
  readonly nodes: NodeRows;
  readonly idempotency: IdempotencyRows;
  readonly audit: AuditRows;
  readonly auditChain: AuditChainRows;
  readonly auditLog: AuditLogRows;
  readonly settings: SettingRows;
  readonly processKeys: ProcessKeyRows;
  readonly sealed: SealedRows;
  readonly webhookKeys: WebhookKeyRows;
  readonly deliveries: DeliveryRows;
  readonly exports: ExportRows;
  readonly imports: ImportedRows;
  readonly usage: UsageRows;
  readonly budgets: BudgetRows;
  readonly workers: WorkerRows;
  readonly workerRuns: WorkerRunRows;
  readonly workerEvents: WorkerEventRows;
  readonly archives: ArchiveRows;
  readonly steps: StepRows;
  readonly browsers: BrowserRows;
  readonly websites: WebsiteRows;
  readonly checkpoints: CheckpointRows;
  readonly siteVisits: SiteVisitRows;
  readonly viewers: ViewerRows;
  readonly domains: DomainRows;
  readonly shares: ShareRows;
  readonly retention: RetentionRows;
  readonly erasures: ErasureRows;
  readonly installation: InstallationRows;
  readonly models: ModelRows;
  readonly transfer: TransferRows;
  /** Runs `work` after the commit and before `change` resolves; outside a change, at once. */
  afterCommit(work: () => Promise<void> | void): void;
  /**
   * Runs `work`, which must not throw, when this run of the change leaves nothing: the change has failed, or
   * is about to run again.
   */
  afterRollback(work: () => void): void;
}

/**
 * Notifies of changes after their commit, never before: those of this process and, if
 * their news arrives, those of other processes. The store is the source of truth.
 */
export interface Feed {
  /** A task got events, another status or another fence. */
  onTask(listener: (news: TaskNews) => void): () => void;
  /**
   * A job of this kind may be due. @param turns with `run`: numbers of the changes, by which processes take
   * turns; may be empty.
   */
  onJob(listener: (kind: string, turns: readonly number[]) => void): () => void;
  /** News of other processes may have been missed, on any subject: read the store. */
  onLost(listener: () => void): () => void;
}

/** The facts that watchers and runners need without a query. */
export interface TaskNews {
  readonly taskId: string;
  readonly lastSeq: number;
  readonly fence: number;
  readonly status: string;
  /** Whose task it is; absent in news of a process of 0.1.0. */
  readonly spaceId?: string | undefined;
  readonly accountId?: string | undefined;
  /** `Task.readSeq`; absent where it has not changed. */
  readonly readSeq?: number | undefined;
}

/**
 * Short texts between processes on one database: each arrives at most once, in the order of its sender, and
 * may be lost. They are not stored.
 */
export interface Broadcast {
  /** Sends a text of at most 4 KiB to all other processes. */
  send(text: string): void;
  onText(listener: (text: string) => void): () => void;
}

/**
 * Reports a change of a task, as a part of the change, to webhooks and listeners, the schedule that created
 * it, the parent of a subtask. Code that writes events or another status of a task calls it. Returns the
 * task.
 */
export type PublishTask = (tx: Tx, written: TaskWritten) => Promise<Task>;

/** The store: reads at any time, changes one transaction at a time. */
export interface Store extends Tx {
  /**
   * Runs `work` in one transaction: all of it is durable when the promise resolves,
   * or none of it. Conflicts are retried, so `work` may run more than once and must
   * have no effects outside the transaction.
   */
  change<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  readonly feed: Feed;
  /** Null when no other process can use the database. */
  readonly broadcast: Broadcast | null;
  /** They work outside of transactions. */
  readonly counters: RateCounters;
  /**
   * Releases up to `pages` free pages of the database's file to the file system, in one change; a tenth of
   * the file may stay free. Returns how many remain: 0 on PostgreSQL, whose autovacuum does this, and for
   * files of releases before 0.2.0.
   */
  shrink(pages: number): Promise<number>;
  /** Asks the read replica how it is; null without one. */
  readonly replica: (() => Promise<ReplicaState>) | null;
  /**
   * Resolves when the database has committed a write that leaves no rows, and takes more space than a new
   * task: for `/readyz`.
   */
  ping(): Promise<void>;
  /**
   * Calls the listener after each change that failed because the database is away, a standby, or without disk
   * space.
   */
  onAway(listener: () => void): void;
  close(): Promise<void>;
}
